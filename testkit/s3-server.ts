// A storage service of our own for tests: objects by path, HEAD and PUT as S3 has them, signatures checked with a second implementation of the rules.
import { createHash, createHmac } from "node:crypto";
import { createServer, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";

export interface S3Server {
  readonly url: string;
  readonly port: number;
  /** By bucket and key; how often each was written. */
  readonly objects: Map<string, { readonly content: Buffer; readonly contentType: string; writes: number }>;
  /** "lost" keeps the object and breaks the connection. */
  mood: "well" | "silence" | "lost" | number;
  close(): Promise<void>;
}

export interface S3ServerOptions {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly region: string;
  readonly port?: number;
}

const sha256 = (content: string | Buffer): string => createHash("sha256").update(content).digest("hex");
const hmac = (key: string | Buffer, text: string): Buffer => createHmac("sha256", key).update(text).digest();

/** Signature Version 4, as its documentation has it. */
function isSigned(incoming: IncomingMessage, content: Buffer, options: S3ServerOptions): boolean {
  const { authorization = "", "x-amz-date": date, "x-amz-content-sha256": payload } = incoming.headers;
  const form = /^AWS4-HMAC-SHA256 Credential=([^,]+), ?SignedHeaders=([^,]+), ?Signature=([0-9a-f]{64})$/;
  const [, credential = "", names = "", signature] = form.exec(authorization) ?? [];
  const scope = `${String(date).slice(0, 8)}/${options.region}/s3/aws4_request`;
  if (credential !== `${options.accessKeyId}/${scope}`) return false;
  if (payload !== "UNSIGNED-PAYLOAD" && payload !== sha256(content)) return false;
  const headers = names.split(";").map((name) => `${name}:${String(incoming.headers[name] ?? "").trim()}\n`);
  const canonical = [incoming.method, incoming.url, "", headers.join(""), names, payload].join("\n");
  const text = ["AWS4-HMAC-SHA256", date, scope, sha256(canonical)].join("\n");
  const steps = [String(date).slice(0, 8), options.region, "s3", "aws4_request"];
  const key = steps.reduce<string | Buffer>((made, step) => hmac(made, step), `AWS4${options.secretAccessKey}`);
  return hmac(key, text).toString("hex") === signature;
}

export async function startS3Server(options: S3ServerOptions): Promise<S3Server> {
  const state: Pick<S3Server, "objects" | "mood"> = { objects: new Map(), mood: "well" };
  const hashes = new Map<string, string>();
  const server = createServer(async (incoming, outgoing) => {
    const chunks: Buffer[] = [];
    for await (const chunk of incoming) chunks.push(chunk as Buffer);
    const content = Buffer.concat(chunks);
    const name = decodeURIComponent((incoming.url ?? "/").slice(1));
    if (state.mood === "silence") return;
    if (typeof state.mood === "number") return void outgoing.writeHead(state.mood).end();
    if (!isSigned(incoming, content, options)) return void outgoing.writeHead(403).end();
    const found = state.objects.get(name);
    if (incoming.method === "HEAD") {
      if (found === undefined) return void outgoing.writeHead(404).end();
      return void outgoing.writeHead(200, { "x-amz-meta-sha256": hashes.get(name) ?? "" }).end();
    }
    const contentType = incoming.headers["content-type"] ?? "";
    state.objects.set(name, { content, contentType, writes: (found?.writes ?? 0) + 1 });
    hashes.set(name, String(incoming.headers["x-amz-meta-sha256"] ?? ""));
    if (state.mood === "lost") return void outgoing.destroy();
    outgoing.writeHead(200).end();
  });
  await new Promise<void>((resolve) => server.listen(options.port ?? 0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return Object.assign(state, {
    url: `http://127.0.0.1:${port}`,
    port,
    close: () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  });
}
