"""A whole agent for osworld-e2b: shows the picture to a model and clicks where it says. Start: python3 agent.py [PORT]"""

import json
import re
import sys
import urllib.request
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

ASK = "Task: {}\nThe screen is {width}x{height}. Answer with `x, y` of the one place to click next, or DONE, or FAIL."
sessions = {}


def ask(told, picture):
    text = {"type": "text", "text": ASK.format(told["instruction"], **told["screen"])}
    image = {"type": "image_url", "image_url": {"url": "data:image/png;base64," + picture}}
    body = {"model": told["model"]["name"], "messages": [{"role": "user", "content": [text, image]}]}
    headers = {"Content-Type": "application/json", "Authorization": "Bearer " + told["model"]["api_key"]}
    address = told["model"]["openai_base_url"] + "/chat/completions"
    with urllib.request.urlopen(urllib.request.Request(address, json.dumps(body).encode(), headers)) as answer:
        return json.load(answer)["choices"][0]["message"]["content"] or ""


class Agent(BaseHTTPRequestHandler):
    def do_POST(self):
        told, answer = json.loads(self.rfile.read(int(self.headers["Content-Length"]))), {}
        if self.path == "/reset":
            sessions[told["session"]] = told
        elif self.path == "/predict":
            text = ask(sessions[told["session"]], told["observation"]["screenshot_png_base64"])
            place, word = re.search(r"(\d+)\s*,\s*(\d+)", text), re.findall(r"DONE|FAIL", text)[:1]
            answer["response"] = text
            answer["actions"] = [{"type": "click", "x": int(place[1]), "y": int(place[2])}] if place else word
        self.send_response(200)
        self.end_headers()
        self.wfile.write(json.dumps(answer).encode())


server = ThreadingHTTPServer(("127.0.0.1", int((sys.argv + ["8000"])[1])), Agent)
print("listening on http://127.0.0.1:%d" % server.server_address[1], flush=True)
server.serve_forever()
