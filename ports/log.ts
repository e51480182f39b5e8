// Structured logging. Field names decide redaction (anything named like a secret is masked), so put values in fields,
// never in the message.
export type LogFields = Readonly<Record<string, unknown>>;

export interface Log {
  debug(message: string, fields?: LogFields): void;
  info(message: string, fields?: LogFields): void;
  warn(message: string, fields?: LogFields): void;
  error(message: string, fields?: LogFields): void;
  /** The same log with these fields on every line (service, request id, event id). */
  with(fields: LogFields): Log;
}
