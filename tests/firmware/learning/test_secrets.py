"""Secrets by their shape: what is found, and what only looks odd and is none."""

from engram.text.secrets import secrets
from samples import Digest, Numbers

# A text, and the piece of it that is a secret.
ENGLISH = (
    ("my openai key is sk-abc123def456ghi789jkl012mno345", "sk-abc123def456ghi789jkl012mno345"),
    ("sk-proj-4f9A_xT2b-kLmN8pQrStUvWxYz0123456789abc works", "sk-proj-4f9A_xT2b-kLmN8pQrStUvWxYz0123456789abc"),
    ("use ghp_16C7e42F292c6912E7710c838347Ae178B4a, please", "ghp_16C7e42F292c6912E7710c838347Ae178B4a"),
    ("github_pat_11ABCDEFG0abcdefghijkl_MNOPQRSTUV", "github_pat_11ABCDEFG0abcdefghijkl_MNOPQRSTUV"),
    ("the bot is xoxb-123456789012-AbCdEfGhIjKlMnOpQrStUvWx", "xoxb-123456789012-AbCdEfGhIjKlMnOpQrStUvWx"),
    ("AKIAIOSFODNN7EXAMPLE is for S3", "AKIAIOSFODNN7EXAMPLE"),
    ("maps: AIzaSyD-9tSrke72PouQMnMX-a7eZSW0jkFMBWY.", "AIzaSyD-9tSrke72PouQMnMX-a7eZSW0jkFMBWY"),
    ("glpat-x9Yz8Wv7Ut6Sr5Qp4On3", "glpat-x9Yz8Wv7Ut6Sr5Qp4On3"),
    ("eyJhbGciOiJIUzI1.eyJzdWIiOiIxMjM0.dozjgNryP4J3jVmN", "eyJhbGciOiJIUzI1.eyJzdWIiOiIxMjM0.dozjgNryP4J3jVmN"),
    ("-----BEGIN RSA PRIVATE KEY-----\nMIIEpAIB\n-----END RSA PRIVATE KEY-----", "-----BEGIN RSA PRIVATE KEY-----\nMIIEpAIB\n"),
    ("-----BEGIN OPENSSH PRIVATE KEY-----\nb3BlbnNz", "-----BEGIN OPENSSH PRIVATE KEY-----\nb3BlbnNz"),
    ("the bot's is 110201543:AAHdqTcvCH1vGWJxfSeofSAs0K5PALDsaw", "AAHdqTcvCH1vGWJxfSeofSAs0K5PALDsaw"),
    ("hf_AbCdEfGh1jKlMnOpQrStUvWxYz0123456", "hf_AbCdEfGh1jKlMnOpQrStUvWxYz0123456"),
    ("the gate opens with R7kQ2mZx9Lp4Vn8Tb3Wc6Yd1 only", "R7kQ2mZx9Lp4Vn8Tb3Wc6Yd1"),
    ("my password is hunter2", "hunter2"),
    ("My password is swordfish", "swordfish"),
    ("the Wi-Fi password is correcthorse.", "correcthorse"),
    ("password: swordfish", "swordfish"),
    ("Password = letmein", "letmein"),
    ("DB_PASSWORD=s3cr3t", "s3cr3t"),
    ("mypassword: foobar", "foobar"),
    ("the password for the guest network is hunter2", "hunter2"),
    ("my password for the bank's site is Tr0ub4dor&3", "Tr0ub4dor&3"),
    ("wifi password at home: sunflower", "sunflower"),
    ("the password is swordfish and the user is ann", "swordfish"),
    ("I changed my password to Sommer2024!", "Sommer2024"),
    ("password is 'open sesame'", "open sesame"),
    ("the old password was Hunter99 before", "Hunter99"),
    ("pwd: qwerty", "qwerty"),
    ("the passcode is 4821", "4821"),
    ("My PIN is 4821", "4821"),
    ("pin: 0000", "0000"),
    ("the pin code of my card is 4821", "4821"),
    ("CVV 123", "123"),
    ("mein Passwort ist Geheim123", "Geheim123"),
    ("Das Passwort lautet Müller77", "Müller77"),
    ("the api key is 9f8e7d6c5b4a39281706", "9f8e7d6c5b4a39281706"),
    ("api_key=9f8e7d6c5b4a", "9f8e7d6c5b4a"),
    ("API-KEY: abcd1234efgh", "abcd1234efgh"),
    ("token: 8f14e45fceea167a", "8f14e45fceea167a"),
    ("the secret is x7Qp9z", "x7Qp9z"),
    ("the aws secret access key is wJalrXUtnFEMI/K7MDENG", "wJalrXUtnFEMI/K7MDENG"),
    ("my card is 4111 1111 1111 1111", "4111 1111 1111 1111"),
    ("4111111111111111", "4111111111111111"),
    ("card 5500-0055-5555-5559 12/28", "5500-0055-5555-5559"),
    ("in 2026 4111 1111 1111 1111 123 expires", "4111 1111 1111 1111"),
    ("Amex 3782 822463 10005", "3782 822463 10005"),
    ("my old visa 4222222222222", "4222222222222"),
    ("mqtt://engram:hunter2@broker.local:1883", "hunter2"),
    ("https://example.com/hook?token=abc123def456", "abc123def456"),
    ("the passphrase is correct horse battery staple", "correct horse battery staple"),
    ("seed phrase: abandon ability able about", "abandon ability able about"),
)  # fmt: skip

CHINESE = (
    ("我的密码是abc123", "abc123"),
    ("密码：hunter2", "hunter2"),
    ("密码:hunter2", "hunter2"),
    ("密码 abc123", "abc123"),
    ("密码abc123", "abc123"),
    ("密码是 sunflower", "sunflower"),
    ("密码是sunflower，别告诉别人", "sunflower"),
    ("WiFi密码是sunflower88。", "sunflower88"),
    ("银行卡密码是482913", "482913"),
    ("取款密码482913", "482913"),
    ("支付密码是135790", "135790"),
    ("密码为 Passw0rd", "Passw0rd"),
    ("密码就是Passw0rd", "Passw0rd"),
    ("密码＝letmein", "letmein"),
    ("家里的WiFi密码改成了abc12345", "abc12345"),
    ("我把密码换成Sommer2024了", "Sommer2024"),
    ("密码（家里的路由器）：hunter2", "hunter2"),
    ("密码是“芝麻开门”", "芝麻开门"),
    ("密码是「open sesame」", "open sesame"),
    ("口令是芝麻开门", "芝麻开门"),
    ("口令：天王盖地虎", "天王盖地虎"),
    ("口令：tiger88", "tiger88"),
    ("開機密碼是abc123", "abc123"),
    ("路由器的 password 是 hunter2", "hunter2"),
    ("我的 PIN 是 4821", "4821"),
    ("PIN码是4821", "4821"),
    ("CVV：123", "123"),
    ("我的API密钥是9f8e7d6c5b4a39281706", "9f8e7d6c5b4a39281706"),
    ("我的api key是9f8e7d6c5b4a", "9f8e7d6c5b4a"),
    ("密鑰：abcd1234efgh", "abcd1234efgh"),
    ("私钥是abcd1234efgh", "abcd1234efgh"),
    ("令牌：8f14e45fceea167a", "8f14e45fceea167a"),
    ("token是8f14e45fceea167a", "8f14e45fceea167a"),
    ("密钥是sk-abc123def456ghi789jkl012", "sk-abc123def456ghi789jkl012"),
    ("用ghp_16C7e42F292c6912E7710c838347Ae178B4a推送", "ghp_16C7e42F292c6912E7710c838347Ae178B4a"),
    ("机器人是xoxb-123456789012-AbCdEfGhIjKlMnOpQrStUvWx。", "xoxb-123456789012-AbCdEfGhIjKlMnOpQrStUvWx"),
    ("我的谷歌AIzaSyD-9tSrke72PouQMnMX-a7eZSW0jkFMBWY钥匙", "AIzaSyD-9tSrke72PouQMnMX-a7eZSW0jkFMBWY"),
    ("大门用R7kQ2mZx9Lp4Vn8Tb3Wc6Yd1打开", "R7kQ2mZx9Lp4Vn8Tb3Wc6Yd1"),
    ("私钥在这里：-----BEGIN EC PRIVATE KEY-----\nMHcC", "-----BEGIN EC PRIVATE KEY-----\nMHcC"),
    ("我的信用卡号是4111 1111 1111 1111", "4111 1111 1111 1111"),
    ("信用卡：5555555555554444，有效期12/28", "5555555555554444"),
    ("银联卡号6200000000000005", "6200000000000005"),
    ("助记词是abandon ability able about", "abandon ability able about"),
    ("服务器是mqtt://engram:hunter2@broker.local", "hunter2"),
)  # fmt: skip

NONE_IN_ENGLISH = (
    "my bike is green",
    "call me at +49 170 1234567",
    "+4917012345678 is Bob's number, +1 415 555 2671 Ann's",
    "the meeting is on 2026-09-21 at 10:30",
    "2026-09-21T14:13:00Z was the start",
    "order number 20240131123456789",
    "my order 302-1234567-1234567 is late",
    "the device is 550e8400-e29b-41d4-a716-446655440000",
    "its MAC is 24:6f:28:ab:cd:ef, or 246F28ABCDEF",
    "the board has 192.168.1.42 and fe80::1ff:fe23:4567:890a",
    "version 1.26.1-preview.123 of MicroPython v1.26.1 on 2025-09-11",
    "commit e4a611a9d0f3b1c2d4e5f60718293a4b5c6d7e8f fixed it, e4a611a did not",
    "sha256 9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
    "esp32s3-devkitc-1-n16r8v is the board",
    "iPhone15ProMax256GBBlueTitanium is what I want",
    "my favourite band is blink182",
    "IBAN DE89 3704 0044 0532 0130 00, or MT84MALT011000012345MTLCAST001S",
    "IMEI 490154203237518",
    "ISBN 978-3-16-148410-0 or 9783161484100",
    "my car has the plate B-AB 1234 and VIN WVWZZZ1JZXW000001",
    "the LED is on pin 13",
    "the GPIO pin is 21",
    "data pin: 4",
    "spinning 1234 wheels, pineapple 5678",
    "I changed my password",
    "I forgot my password again",
    "my password is too long to remember",
    "the password is on the fridge",
    "the password is stored in the vault",
    "the password is wrong.",
    "password: none",
    "password: ********",
    "the password must have 12 characters",
    "my password manager is Bitwarden",
    "the password policy is strict",
    "I changed my password in 2024",
    "the passphrase is too long to remember",
    "the token is expired",
    "token limit: 8000, max_tokens: 128000",
    "token budget is 600 tokens",
    "the secret is to practice daily",
    "the secret of good coffee is fresh beans",
    "the secret ingredient is nutmeg, secret Santa is on December 12",
    "my secretary is Ann2345",
    "https://docs.google.com/document/d/1BxiMVs0XRA5nFMdKvBdBZjgmUUqptlbs74OgvE2upms/edit",
    "see https://www.youtube.com/watch?v=dQw4w9WgXcQ",
    "the file is /home/ann/Documents/Steuer2024/Bescheid2023Final2.pdf",
    "it is called getUserAccountBalanceByCustomerId2",
    "test_a_number_that_stands_at_the_end_of_32_lines",
    "register 0x3F4000A0 of 0xA9FB57DBA1EEA9BC3E660A909D838D71",
    "1700000000123 is the time",
    "3.14159265358979323846 is pi",
    "1 2 3 4 5 6 7 8 9 10 11 12 13 14 15",
    "2021 2022 2023 2024 were good years",
    "the population is 1,412,000,000",
    "4111 1111 1111 1112 has a wrong check digit",
    "serial number SN4111111111111111",
    "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIOMqqnkVzrm0SdG6UOoqKLsabgH5C9okWi0dh2l9GKJl ann",
    "Room 4111, 1111 Main Street",
)

NONE_IN_CHINESE = (
    "我的自行车是绿色的",
    "我的电话是13812345678",
    "座机010-62345678",
    "打+86 138 1234 5678找我",
    "会议在2026-09-21 10:30",
    "2026年9月21日14点13分",
    "我的生日是1990年6月3日",
    "身份证号110105199003071234",
    "订单号20240131123456789",
    "快递单号SF1234567890123",
    "会议号 987 6543 2101",
    "我的QQ是123456789",
    "微信号是ann_1990",
    "车牌是京A12345",
    "设备是550e8400-e29b-41d4-a716-446655440000",
    "MAC地址是24:6f:28:ab:cd:ef",
    "服务器地址是192.168.1.42",
    "版本是1.26.1",
    "提交e4a611a9d0f3b1c2d4e5f60718293a4b5c6d7e8f修复了它",
    "校验和9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
    "我的板子是esp32s3-devkitc-1-n16r8v",
    "我想要iPhone15ProMax",
    "书号978-3-16-148410-0",
    "灯在pin 13上",
    "数据引脚pin是21",
    "我的密码忘了",
    "我忘记了密码",
    "密码是什么",
    "密码是错的",
    "密码是错误的",
    "密码不对",
    "密码要有12位",
    "密码管理器是Bitwarden",
    "我改了密码",
    "请不要告诉别人密码",
    "密码在冰箱上",
    "口令是错误的",
    "口令是什么",
    "这个秘密是她告诉我的",
    "令牌已经过期",
    "令牌上限是8000",
    "我家在朝阳路128号院3号楼1201",
    "圆周率是3.14159265358979323846",
    "人口是1412000000",
    "尾号4821的卡",
    "视频在https://www.bilibili.com/video/BV1GJ411x7h7",
    "我喜欢2021 2022 2023 2024这几年",
)


def test_a_secret_in_an_english_text_is_found():
    for content, piece in ENGLISH:
        assert piece in list(secrets(content)), (content, list(secrets(content)))


def test_a_secret_in_a_chinese_text_is_found():
    for content, piece in CHINESE:
        assert piece in list(secrets(content)), (content, list(secrets(content)))


def test_an_english_text_without_a_secret_has_none():
    for content in NONE_IN_ENGLISH:
        assert list(secrets(content)) == [], (content, list(secrets(content)))


def test_a_chinese_text_without_a_secret_has_none():
    for content in NONE_IN_CHINESE:
        assert list(secrets(content)) == [], (content, list(secrets(content)))


def test_two_secrets_of_one_text_are_both_found_and_each_once():
    found = list(secrets("my PIN is 4821, my password is hunter2, the password of the bank is hunter2"))
    assert sorted(found) == ["4821", "hunter2"]


def test_a_random_key_is_seldom_missed():
    letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"
    numbers = Numbers(5)
    missed = 0
    for _ in range(200):
        key = "".join([numbers.pick(letters) for _ in range(32)])
        missed += list(secrets("it is " + key + " here")) != [key]
    assert missed <= 4


def test_a_card_number_is_found_by_its_check_digit():
    for digit in range(10):
        found = list(secrets("card 411111111111111%d" % digit))
        assert bool(found) == (digit == 1)


def test_each_piece_stands_in_the_text_and_is_the_same_on_every_runtime():
    parts = (
        "password", "密码", "PIN", " is ", "是", ":", "：", "=", " ", " ", "口令", "hunter2", "swordfish", "4821", "芝麻开门",
        "“", "”", '"', "'", "sk-abc123def456ghi789jkl012", "ghp_", "aB3dE6gH9jK2mN5pQ8sT1vW4", "4111 1111 1111 1111", "-",
        "http://a:b@c", "token", "api_key", "passphrase", "for", "the", "ü", "🙂", "\n", "。", ",", "eyJ", ".", "(",
        "-----BEGIN PRIVATE KEY", "seed phrase",
    )  # fmt: skip
    numbers = Numbers(11)
    digest = Digest()
    for _ in range(400):
        content = "".join([numbers.pick(parts) for _ in range(numbers.below(10))])
        for piece in secrets(content):
            assert piece and piece in content, (content, piece)
            digest.add(piece)
    assert digest.hex() == "2d7b4745"
