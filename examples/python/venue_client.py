"""Asks the venue. A call that fails leaves open whether it was done: ask for the order afterwards."""
import json
import socket


class VenueAway(Exception):
    pass


class VenueClient:
    def __init__(self, path):
        self.path, self.file = str(path), None

    def ask(self, **request):
        try:
            if self.file is None:
                connection = socket.socket(socket.AF_UNIX)
                connection.settimeout(5)
                connection.connect(self.path)
                self.file = connection.makefile("rw")
            self.file.write(json.dumps(request) + "\n")
            self.file.flush()
            line = self.file.readline()
            if line == "":
                raise ConnectionError("the venue hung up")
            return json.loads(line)
        except OSError as error:
            self.file = None
            raise VenueAway(str(error)) from error
