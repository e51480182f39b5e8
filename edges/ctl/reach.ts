// Whether whoever answers is a Portcullis server at all. A wrong port and a wrong scheme are the first mistakes that people make, and a
// bare "not found" does not tell them so.
import { exitCodes } from "../../contracts/src/codes/shape.ts";
import { isApiError, Refusal } from "./failure.ts";

/** Asks something that every Portcullis server answers, and says so when this one does not. */
export async function fromPortcullis<Value>(server: string, ask: () => Promise<Value>): Promise<Value> {
  try {
    return await ask();
  } catch (error) {
    if (isForeign(error)) throw notPortcullis(server, error);
    throw error;
  }
}

export function notPortcullis(server: string, cause?: unknown): Refusal {
  return new Refusal(
    exitCodes.unavailable,
    "SERVICE_UNAVAILABLE",
    `${server} answers, but not as a Portcullis operators' port (default 8080).`,
    "Name that port with --server or PORTCULLIS_URL; `ctl doctor` looks closer.",
    cause,
  );
}

function isForeign(error: unknown): boolean {
  if (isApiError(error)) {
    const isOurs = typeof (error.problem as { code?: unknown } | undefined)?.code === "string";
    // A proxy that says 502 to 504 stands before a server that may well be ours.
    return error.status === 404 || (!isOurs && error.status < 500);
  }
  if (!(error instanceof Error) || error.name !== "UnreachableError") return false;
  if (error.message.includes("is not JSON")) return true;
  // What came back is no HTTP: a gRPC port, for example. Not every version of Node gives such an error its code.
  for (let at: unknown = error, depth = 0; at instanceof Error && depth < 8; at = at.cause, depth += 1) {
    if (at.name === "HTTPParserError" || String((at as { code?: unknown }).code).startsWith("HPE_")) return true;
  }
  return false;
}
