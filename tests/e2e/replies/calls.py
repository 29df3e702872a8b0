"""Requests to an API server without a client that would set headers of its own, and what came back."""

import http.client
import json
import ssl
from dataclasses import dataclass, field


@dataclass
class Access:
    """Where a server is and how to sign in: with a certificate or a token."""

    host: str
    port: int
    authority: str
    certificate: str = ""
    key: str = ""
    token: str = ""


@dataclass
class Reply:
    code: int
    headers: dict = field(default_factory=dict)
    body: object = None  # what the JSON says; text where it is none
    frames: list = field(default_factory=list)  # of a watch

    def at(self, path):
        """The value at "metadata.resourceVersion"; None where there is nothing."""
        value = self.body
        for name in path.split("."):
            if isinstance(value, list) and name.isdigit() and int(name) < len(value):
                value = value[int(name)]
            elif isinstance(value, dict):
                value = value.get(name)
            else:
                return None
        return value


def parsed(data):
    text = data.decode(errors="replace")
    try:
        return json.loads(text)
    except ValueError:
        return text


class Caller:
    """One connection, used again for each request."""

    def __init__(self, access, timeout_s=30):
        self.access = access
        trusted = ssl.create_default_context(cafile=access.authority)
        trusted.check_hostname = False  # a port forwarded or an address instead of a name is still that authority's server
        if access.certificate:
            trusted.load_cert_chain(access.certificate, access.key)
        self.connection = http.client.HTTPSConnection(access.host, access.port, timeout=timeout_s, context=trusted)

    def call(self, method, path, body=None, headers=None):
        sent = {"Accept": "application/json"}
        if self.access.token:
            sent["Authorization"] = f"Bearer {self.access.token}"
        if body is not None:
            sent["Content-Type"] = "application/json"
        sent.update(headers or {})
        data = body if isinstance(body, (str, bytes, type(None))) else json.dumps(body)
        try:
            answer, data = self.exchange(method, path, data, sent)
        except (http.client.HTTPException, OSError):
            # The server may have closed the connection after a refusal.
            self.connection.close()
            answer, data = self.exchange(method, path, data, sent)
        reply = Reply(answer.status, {name.lower(): value for name, value in answer.getheaders()})
        if "watch=true" in path or "/watch/" in path:
            reply.frames = [parsed(line) for line in data.splitlines() if line.strip()]
            reply.body = reply.frames.pop() if answer.status != 200 and reply.frames else None
        else:
            reply.body = parsed(data)
        return reply

    def exchange(self, method, path, body, headers):
        try:
            self.connection.request(method, path, body=body, headers=headers)
        except (BrokenPipeError, ConnectionResetError, ssl.SSLError):
            pass  # refused before all of it was sent: the answer may be there
        answer = self.connection.getresponse()
        return answer, answer.read()

    def close(self):
        self.connection.close()
