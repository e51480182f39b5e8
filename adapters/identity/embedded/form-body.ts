// Reads a submitted form, bounded: what is too large or not a form is refused before it is read.
import type { IncomingMessage } from "node:http";

const bodyBytesMax = 16_384;

/** The fields, or undefined when there is no form or it is too large. A field that comes twice counts once. */
export async function readForm(request: IncomingMessage): Promise<ReadonlyMap<string, string> | undefined> {
  const [type = ""] = (request.headers["content-type"] ?? "").split(";");
  if (type.trim().toLowerCase() !== "application/x-www-form-urlencoded") return undefined;
  const chunks: Buffer[] = [];
  let received = 0;
  // Not destroyed when we stop reading: the caller is still to be answered.
  for await (const chunk of request.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
    received += chunk.length;
    if (received > bodyBytesMax) return undefined;
    chunks.push(chunk);
  }
  return new Map(new URLSearchParams(Buffer.concat(chunks).toString("utf8")));
}
