// Messages that name a fund where their declaration has a place for one, for tests of the guard of funds.
import { codecOf, messageFields } from "../../adapters/grpc/definitions.ts";

type Message = Record<string, unknown>;

/** An empty message of that type that names the fund at a path such as `halts[].fund_id`; the row of a list is its only one. */
export function namingMessage(type: string, path: string, fundId: string): Message {
  const message = emptyMessage(type);
  setIn(type, message, path.split("."), fundId);
  return message;
}

export function emptyMessage(type: string): Message {
  return codecOf(type).decode(new Uint8Array()) as Message;
}

function setIn(type: string, message: Message, [segment = "", ...rest]: readonly string[], fundId: string): void {
  const isList = segment.endsWith("[]");
  const name = isList ? segment.slice(0, -2) : segment;
  if (rest.length === 0) {
    message[name] = fundId;
    return;
  }
  const inner = messageFields.get(type)?.find((field) => field.name === name)?.type;
  if (inner === undefined) throw new Error(`${type} has no message ${name}`);
  const [first] = isList ? (message[name] as Message[]) : [message[name] as Message | undefined];
  const part = first ?? emptyMessage(inner);
  message[name] = isList ? [part] : part;
  setIn(inner, part, rest, fundId);
}
