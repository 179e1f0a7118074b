run_as_root = true
pidfile = "$home/prosody.pid"
data_path = "$home/data"
log = { warn = "*console" }
certificates = "$home"
modules_enabled = {
    "roster", "saslauth", "tls", "disco", "posix", "offline", "smacks", "carbons", "ping", "presence", "message", "iq", "c2s",
}
modules_disabled = { "s2s" }
authentication = "internal_plain"
storage = "internal"
interfaces = { "127.0.0.1" }
c2s_ports = { $starttls }
c2s_direct_tls_ports = { $direct }
s2s_ports = {}
http_ports = {}
https_ports = { $files }
https_ssl = { key = "$home/server.pem", certificate = "$home/server.pem" }
c2s_require_encryption = true
allow_registration = false
ssl = { key = "$home/server.pem", certificate = "$home/server.pem" }
VirtualHost "$domain"
Component "rooms.$domain" "muc"
    modules_enabled = { $room_modules }
    muc_room_locking = false
    muc_room_default_persistent = true
    muc_room_default_public_jids = $public
Component "files.$domain" "http_file_share"
    http_file_share_size_limit = 10485760
    http_host = "127.0.0.1"
    http_external_url = "https://127.0.0.1:$files/"
