# A git server over HTTP for one test, inside its sandbox: git http-backend behind a small CGI server.
# Arguments: root of repositories, name, password backwards. Prints its port. Paths below /slow/ never answer.
import base64
import http.server
import os
import subprocess
import sys
import time

root, name, password = sys.argv[1], sys.argv[2], sys.argv[3][::-1]
wanted = "Basic " + base64.b64encode(f"{name}:{password}".encode()).decode()


class Handler(http.server.BaseHTTPRequestHandler):
    def log_message(self, *args):
        pass

    def answer(self):
        if self.path.startswith("/slow/"):
            time.sleep(600)
        if self.path.startswith("/private/") and self.headers.get("Authorization") != wanted:
            self.send_response(401)
            self.send_header("WWW-Authenticate", 'Basic realm="git"')
            self.send_header("Content-Length", "0")
            self.end_headers()
            return
        path, _, query = self.path.partition("?")
        path = path.removeprefix("/private")
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        if self.headers.get("Transfer-Encoding") == "chunked":
            while size := int(self.rfile.readline(), 16):
                body += self.rfile.read(size)
                self.rfile.readline()
            self.rfile.readline()
        env = {
            "PATH": os.environ["PATH"], "GIT_PROJECT_ROOT": root, "GIT_HTTP_EXPORT_ALL": "1", "PATH_INFO": path,
            "QUERY_STRING": query, "REQUEST_METHOD": self.command, "CONTENT_LENGTH": str(len(body)),
            "CONTENT_TYPE": self.headers.get("Content-Type") or "", "REMOTE_USER": name,
            "HTTP_CONTENT_ENCODING": self.headers.get("Content-Encoding") or "",
            "GIT_PROTOCOL": self.headers.get("Git-Protocol") or "", "HOME": "/nonexistent",
        }
        backend = subprocess.check_output(["git", "--exec-path"], text=True).strip() + "/git-http-backend"
        done = subprocess.run([backend], input=body, env=env, stdout=subprocess.PIPE)
        head, _, content = done.stdout.partition(b"\r\n\r\n")
        fields = dict(line.split(": ", 1) for line in head.decode().split("\r\n") if ": " in line)
        self.send_response(int(fields.pop("Status", "200").split()[0]))
        for field, value in fields.items():
            self.send_header(field, value)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    do_GET = do_POST = answer


server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
print("port", server.server_port, flush=True)
server.serve_forever()
