// Starts minds. Which way of keeping one apart holds on this machine is tried at each start: a mind is told of a TCP port, of a socket with a path and of a file
// of ours, and must fail to reach them. The best way that holds is taken; where none keeps files shut, no mind is started.
import { existsSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type Server } from "node:net";
import { join } from "node:path";
import { z } from "zod";
import { messageOf } from "../../contracts/src/fault.ts";
import { parseJson } from "../../contracts/src/parse-json.ts";
import type { Mind, MindEnd, MindWork } from "../../ports/mind.ts";
import { runPiped } from "../system/limited-process.ts";
import { type MindPlace, memoryBytesMax, toolAt, type Way, waysOf } from "./mind-command.ts";

interface MindOptions {
  readonly entry: string;
  /** Where the probe's socket and file are made, and what a mind must not see. */
  readonly dataFolder: string;
  readonly hidden: readonly string[];
  readonly policy: "best" | "namespaces";
  /** Of a test: where these tools are. */
  readonly tools?: { readonly unshare: string | undefined };
}

interface OpenedMind extends Mind {
  /** One sentence for status and health: what it is, and what was tried in vain. */
  readonly note: string;
}

const questionsMax = 2;
/** A prompt at its longest, written into JSON twice. */
const lineBytesMax = 4_000_000;
/** A busy machine is no reason to take a weaker way. */
const probeMsMax = 90_000;

const message = z.union([z.object({ ask: z.string() }), z.object({ said: z.unknown() })]);
const probed = z.object({ tcp: z.boolean(), unix: z.boolean(), file: z.boolean() });

export async function openMind(options: MindOptions): Promise<OpenedMind> {
  const { entry, policy } = options;
  if (!existsSync(entry))
    return closed("The program of a mind is not built (node scripts/bundle.js mind), so none is started.");
  if (!process.allowedNodeEnvironmentFlags.has("--permission")) {
    return closed("This Node cannot keep files from a program (--permission), so no mind is started. Node 24 can.");
  }
  const failed: string[] = [];
  for (const way of waysOf(placeOf(options))) {
    if (policy === "namespaces" && way.isolation !== "namespaces") continue;
    const why = await whyNot(way, options.dataFolder);
    if (why === undefined) return opened(way, failed);
    failed.push(`${way.what}: ${why}`);
  }
  const wanted = policy === "namespaces" ? " bots.isolation asks for namespaces." : "";
  return closed(`No mind is started.${wanted} Tried: ${failed.join("; ") || "nothing, because unshare is missing"}.`);
}

function placeOf({ entry, dataFolder, hidden, tools }: MindOptions): MindPlace {
  return {
    entry: realpathSync(entry),
    node: realpathSync(process.execPath),
    hidden: [dataFolder, ...hidden, "/run", "/tmp"],
    isRoot: process.getuid?.() === 0,
    unshare: tools === undefined ? toolAt("unshare") : tools.unshare,
    setpriv: toolAt("setpriv"),
  };
}

function closed(note: string): OpenedMind {
  return { isolation: undefined, note, think: async () => ({ kind: "failed", why: note }) };
}

function opened(way: Way, failed: readonly string[]): OpenedMind {
  const instead = failed.length === 0 ? "" : ` Tried in vain: ${failed.join("; ")}.`;
  return { isolation: way.isolation, note: `A mind runs in ${way.what}.${instead}`, think: (work) => think(way, work) };
}

async function think(way: Way, { material, deadlineMs, signal, ask }: MindWork): Promise<MindEnd> {
  let said: { readonly value: unknown } | undefined;
  let asked = 0;
  let unread = "";
  const end = await runPiped({
    command: way.command,
    limits: { timeMsMax: deadlineMs, memoryBytesMax },
    signal,
    input: JSON.stringify({ material }),
    lineBytesMax,
    heard: (line, answer) => {
      const read = messageIn(line);
      if (read === undefined) unread ||= "it said what is no message";
      else if ("said" in read) said ??= { value: read.said };
      else {
        asked += 1;
        if (asked > questionsMax) answer("{}");
        else void answered(ask, read.ask).then((value) => answer(JSON.stringify({ answer: value })));
      }
    },
  });
  if (end.kind === "died") return { kind: "failed", why: end.why };
  return said === undefined ? { kind: "failed", why: unread || "it said nothing" } : { kind: "said", said: said.value };
}

/** A question that nobody could answer is one that nobody answered. */
async function answered(ask: MindWork["ask"], text: string): Promise<unknown> {
  try {
    return await ask(text);
  } catch {
    return undefined;
  }
}

function messageIn(line: string): z.infer<typeof message> | undefined {
  try {
    const read = message.safeParse(parseJson(line));
    return read.success ? read.data : undefined;
  } catch (thrown) {
    if (thrown instanceof SyntaxError) return undefined;
    throw thrown;
  }
}

/** Undefined where the way holds. */
async function whyNot(way: Way, dataFolder: string): Promise<string | undefined> {
  const folder = mkdtempSync(join(realpathSync(dataFolder), ".probe-"));
  const [tcp, unix] = [createServer(), createServer()];
  for (const server of [tcp, unix]) server.on("connection", (socket) => socket.destroy());
  try {
    const [socketPath, file] = [join(folder, "s"), join(folder, "file")];
    writeFileSync(file, "not for a mind");
    await listening(tcp, { host: "127.0.0.1", port: 0 });
    await listening(unix, { path: socketPath });
    const address = tcp.address();
    const port = typeof address === "object" ? address?.port : undefined;
    const reached = await probe(way, { tcp: port, unix: socketPath, file });
    if (typeof reached === "string") return reached;
    if (reached.file) return "it can read files";
    if (way.isolation === "process") return undefined;
    return reached.tcp || reached.unix ? "it can reach sockets" : undefined;
  } catch (thrown) {
    return messageOf(thrown);
  } finally {
    tcp.close();
    unix.close();
    rmSync(folder, { recursive: true, force: true });
  }
}

async function probe(way: Way, what: object): Promise<z.infer<typeof probed> | string> {
  let read: unknown;
  const end = await runPiped({
    command: way.command,
    limits: { timeMsMax: probeMsMax, memoryBytesMax },
    signal: new AbortController().signal,
    input: JSON.stringify({ probe: what }),
    lineBytesMax,
    heard: (line) => {
      read ??= parseJson(line);
    },
  });
  if (end.kind === "died") return end.why;
  const parsed = probed.safeParse(read);
  return parsed.success ? parsed.data : "it did not answer";
}

function listening(
  server: Server,
  where: { readonly host?: string; readonly port?: number; readonly path?: string },
): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once("error", reject);
    server.listen(where, resolve);
  });
}
