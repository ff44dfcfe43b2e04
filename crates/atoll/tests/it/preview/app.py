"""A program to look at through previews: it tells what it was asked, streams, upgrades, and misbehaves on demand.

    app.py PORT [ADDRESS]
"""
import base64, hashlib, http.server, json, os, socket, struct, sys, threading, time, urllib.parse

PIECE = bytes(range(256)) * 1024


class App(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def log_message(self, *_):
        pass

    def answer(self, status, body=b"", headers=()):
        self.send_response(status)
        for name, value in headers:
            self.send_header(name, value)
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def said(self, text):
        print(text, flush=True)

    def serve(self):
        url = urllib.parse.urlsplit(self.path)
        asked = dict(urllib.parse.parse_qsl(url.query))
        route = getattr(self, "at_" + url.path.strip("/").split("/")[-1], None) or self.at_echo
        route(asked)

    do_GET = do_HEAD = do_POST = do_PUT = do_DELETE = do_OPTIONS = do_PATCH = serve

    def at_echo(self, _):
        length = int(self.headers.get("content-length") or 0)
        body = self.rfile.read(length) if length else b""
        headers = [[name.lower(), value] for name, value in self.headers.items()]
        told = {"method": self.command, "path": self.path, "headers": headers, "body": len(body), "pid": os.getpid()}
        told["connection"] = self.client_address[1]
        self.answer(200, json.dumps(told).encode(), [("content-type", "application/json"), ("x-app", "yes")])

    def at_page(self, asked):
        self.answer(200, b"<title>app</title><h1>hello</h1>", [("content-type", "text/html")])

    def at_upload(self, asked):
        self.said("upload begins")
        left, digest, count, trailers = self.headers.get("content-length"), hashlib.sha256(), 0, []
        if left is not None:
            left = int(left)
            while left:
                try:
                    piece = self.rfile.read1(min(left, 1 << 20))
                except OSError:
                    piece = b""
                if not piece:
                    self.close_connection = True
                    return self.said("upload broke off")
                digest.update(piece)
                count, left = count + len(piece), left - len(piece)
        else:
            while size := int(self.rfile.readline().split(b";")[0], 16):
                digest.update(piece := self.rfile.read(size))
                count += len(piece)
                self.rfile.readline()
            while line := self.rfile.readline().strip().decode():
                trailers.append(line)
        told = {"bytes": count, "sha256": digest.hexdigest(), "trailers": trailers}
        told["connection"] = self.client_address[1]
        if "then_hang" in asked:
            self.said("upload is here")
            self.connection.recv(1)
            return self.said("nobody waits")
        self.answer(200, json.dumps(told).encode())

    def at_download(self, asked):
        left = int(asked["bytes"])
        self.send_response(200)
        self.send_header("content-length", str(left))
        self.end_headers()
        try:
            while left:
                piece = PIECE[: min(left, len(PIECE))]
                self.wfile.write(piece)
                left -= len(piece)
        except OSError:
            self.said("download broke off")
            self.close_connection = True

    def chunk(self, data):
        self.wfile.write(b"%x\r\n%s\r\n" % (len(data), data))

    def begin_chunked(self, headers=()):
        self.send_response(200)
        for name, value in [*headers, ("transfer-encoding", "chunked")]:
            self.send_header(name, value)
        self.end_headers()

    def at_sse(self, asked):
        self.begin_chunked([("content-type", "text/event-stream"), ("cache-control", "no-store")])
        try:
            for number in range(int(asked.get("count", 1000000))):
                self.chunk(b"data: %d\n\n" % number)
                time.sleep(float(asked.get("every", 0.02)))
            self.wfile.write(b"0\r\n\r\n")
        except OSError:
            self.said("events broke off")
            self.close_connection = True

    def at_trailers(self, _):
        self.begin_chunked([("trailer", "x-sum")])
        self.chunk(b"body")
        self.wfile.write(b"0\r\nx-sum: 42\r\n\r\n")

    def at_hints(self, _):
        for text in ["103 Early Hints\r\nlink: </a.css>; rel=preload\r\nlink: </b.js>\r\nconnection: x-own\r\nx-own: 1",
                     "102 Processing"]:
            self.wfile.write(b"HTTP/1.1 %s\r\n\r\n" % text.encode())
            time.sleep(0.02)
        self.at_echo(None)

    def at_refuse_body(self, _):
        self.close_connection = True
        self.answer(413, b"too much", [("connection", "close")])

    def at_redirect(self, asked):
        self.answer(302, b"", [("location", asked["to"]), ("set-cookie", "a=1; Path=/; Domain=localhost; HttpOnly")])

    def at_status(self, asked):
        self.answer(int(asked["code"]), b"as asked", [("x-app", "yes")])

    def at_hang(self, _):
        self.said("hanging")
        threading.Event().wait()

    def at_hangup(self, _):
        self.close_connection = True
        self.connection.shutdown(socket.SHUT_RDWR)

    def handle_expect_100(self):
        if "refuse" in self.path:
            self.answer(417, b"no")
            self.close_connection = True
            return False
        self.said("wants the body")
        return super().handle_expect_100()

    def at_ws(self, _):
        key = self.headers["sec-websocket-key"] + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11"
        accept = base64.b64encode(hashlib.sha1(key.encode()).digest()).decode()
        self.wfile.write(b"HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: websocket\r\n"
                         b"sec-websocket-accept: %s\r\n\r\n" % accept.encode())
        self.close_connection = True
        while head := self.rfile.read(2):
            code, length = head[0] & 15, head[1] & 127
            if length == 126:
                length, = struct.unpack(">H", self.rfile.read(2))
            elif length == 127:
                length, = struct.unpack(">Q", self.rfile.read(8))
            mask = self.rfile.read(4)
            data = bytes(byte ^ mask[at % 4] for at, byte in enumerate(self.rfile.read(length)))
            size = bytes([len(data)]) if len(data) < 126 else b"\x7e" + struct.pack(">H", len(data))
            self.wfile.write(bytes([0x80 | code]) + size + data)
            if code == 8:
                return self.said("closed with %d" % (struct.unpack(">H", data[:2])[0] if data else 1005))


class Server(http.server.ThreadingHTTPServer):
    request_queue_size = 1024
    daemon_threads = True


server = Server((sys.argv[2] if len(sys.argv) > 2 else "127.0.0.1", int(sys.argv[1])), App)
print("up", flush=True)
server.serve_forever()
