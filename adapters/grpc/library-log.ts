// What the gRPC library has to say about its callers goes to our log instead of stderr: strangers decide how often it speaks and
// what it repeats, so it is kept short, in plain characters, for the curious only, and without anything that may be a token. The
// library has one voice per process: whoever calls this last hears it.
import { setLogger } from "@grpc/grpc-js";
import type { Log } from "../../ports/log.ts";

const textLengthMax = 200;

export function hearLibrary(log: Log): void {
  const hear = (...said: readonly unknown[]): void => log.debug("the gRPC library says", { text: textOf(said) });
  setLogger({ error: hear, info: hear, debug: hear });
}

function textOf(said: readonly unknown[]): string {
  const text = said.map(String).join(" ");
  const secret = text.search(/authorization/i);
  // The name of such a header is followed by its value.
  const reported = secret === -1 ? text : `${text.slice(0, secret)}(not shown)`;
  return reported.slice(0, textLengthMax).replace(/[^ -~]/g, "?");
}
