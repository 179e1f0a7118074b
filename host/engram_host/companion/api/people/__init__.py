"""Routes on people: who may talk to boards, and what each of them sees."""
