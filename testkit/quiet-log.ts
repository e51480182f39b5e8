// A log that swallows every line, for tests that are about something else.
import type { Log } from "../ports/log.ts";

export const quietLog: Log = {
  debug: () => undefined,
  info: () => undefined,
  warn: () => undefined,
  error: () => undefined,
  with: () => quietLog,
};
