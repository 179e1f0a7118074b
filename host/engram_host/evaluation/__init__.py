"""The evaluation: does a search find the turns that answer a question?"""
