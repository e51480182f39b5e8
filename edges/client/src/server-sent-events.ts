// A stream of server-sent events (text/event-stream), piece by piece as it arrives. EventSource would do it in browsers, but cannot carry a token.

export interface ServerSentEvent {
  /** The last id that the stream named, this event's or one before. */
  readonly id: string | undefined;
  readonly event: string;
  /** Absent in a mere sign of life, which may name an id all the same. */
  readonly data: string | undefined;
}

/** Nothing that we send comes near; a stream without line ends must not fill the memory. */
const lineLengthMax = 4 * 1024 * 1024;

/** What each piece completes. An id counts only with the blank line after it: a stream that was cut before has not reported its event. */
export function serverSentEvents(): (piece: string) => readonly ServerSentEvent[] {
  let rest = "";
  let id: string | undefined;
  let event = "";
  let data: string[] = [];
  const take = (line: string): ServerSentEvent | undefined => {
    if (line === "") {
      const done = {
        id,
        event: event === "" ? "message" : event,
        data: data.length === 0 ? undefined : data.join("\n"),
      };
      event = "";
      data = [];
      return done;
    }
    const [, name = "", value = ""] = /^([^:]*)(?:: ?(.*))?$/s.exec(line) ?? [];
    if (name === "data") data.push(value);
    else if (name === "event") event = value;
    else if (name === "id" && !value.includes("\0")) id = value;
    return undefined;
  };
  return (piece) => {
    rest += piece;
    if (rest.length > lineLengthMax) throw new Error("the stream has a line that never ends");
    const lines = rest.split(/\r\n|\n|\r(?!$)/);
    rest = lines.pop() ?? "";
    return lines.flatMap((line) => take(line) ?? []);
  };
}
