// How the App's key reaches the bots' process: over a unix socket of the runtime folder, from the gateway, to whoever shows the secret that the start told both of
// them. The bots never open the secrets store, in which the platform's own key lies.
import { createHash, timingSafeEqual } from "node:crypto";
import { rm } from "node:fs/promises";
import { createServer, type Server, request as send } from "node:http";
import { join } from "node:path";
import { Fault, messageOf } from "../../contracts/src/fault.ts";
import { parseJson } from "../../contracts/src/parse-json.ts";

const timeMsMax = 5_000;
const answerBytesMax = 65_536;

export function handOverSocket(runtimeFolder: string): string {
  return join(runtimeFolder, "githubbot.sock");
}

interface Handed {
  readonly privateKey: string;
}

interface HandOver {
  close(): Promise<void>;
}

/** `give` answers undefined where nothing is installed. */
export async function serveHandOver(
  path: string,
  proof: string,
  give: () => Promise<Handed | undefined>,
): Promise<HandOver> {
  const server: Server = createServer((request, response) => {
    request.resume();
    if (!isSame(request.headers.authorization ?? "", proof)) {
      response.writeHead(401).end();
      return;
    }
    give().then(
      (handed) => response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(handed ?? null)),
      () => response.writeHead(503).end(),
    );
  });
  server.requestTimeout = timeMsMax;
  server.maxConnections = 16;
  // One that died left its own.
  await rm(path, { force: true });
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(path, resolve);
  });
  return {
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

/** The App's key; undefined where nothing is installed. */
export async function askForKey(path: string, proof: string): Promise<string | undefined> {
  const text = await new Promise<string>((resolve, reject) => {
    const asked = send(
      { socketPath: path, path: "/", timeout: timeMsMax, headers: { authorization: proof } },
      (response) => {
        let body = "";
        response.setEncoding("utf8");
        response.on("data", (piece: string) => {
          body += piece;
          if (body.length > answerBytesMax) asked.destroy(new Error("the answer is too long"));
        });
        response.once("end", () => {
          if (response.statusCode === 200) resolve(body);
          else reject(away(`it answered ${response.statusCode}`));
        });
        response.once("error", (error) => reject(away(messageOf(error))));
      },
    );
    asked.once("timeout", () => asked.destroy(new Error("it did not answer in time")));
    asked.once("error", (error) => reject(away(messageOf(error))));
    asked.end();
  });
  return (parseJson(text) as Handed | null)?.privateKey;
}

function away(why: string): Fault {
  return new Fault("SERVICE_UNAVAILABLE", `The gateway does not hand over the App's key: ${why}.`, { retry: "later" });
}

function isSame(shown: string, proof: string): boolean {
  const hash = (text: string): Buffer => createHash("sha256").update(text).digest();
  return timingSafeEqual(hash(shown), hash(proof));
}
