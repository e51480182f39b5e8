// What tests of logins ask a running platform: whether a token is good, over HTTP and gRPC, and which code a second factor shows.
import { TOTP } from "otpauth";
import type { RunFile } from "../../adapters/system/run-file.ts";
import { type TestClient, testClient } from "../grpc/test-client.ts";
import { fetchOnNewConnection } from "../http/fetch-on-new-connection.ts";
import { pause, within } from "../platform.ts";

/** What the documentation promises for logouts and revocations. */
export const revokedWithinMs = 2_000;
export const stepMs = 30_000;

/** The HTTP status that a token gets. */
export async function httpStatus(url: string, token: string | undefined, method = "GET"): Promise<number> {
  const headers = token === undefined ? {} : { authorization: `Bearer ${token}` };
  const answer = await fetchOnNewConnection(url, { method, headers });
  // An answer that goes on telling has no end to read to.
  if (answer.headers.get("content-type")?.startsWith("text/event-stream")) await answer.body?.cancel();
  else await answer.arrayBuffer();
  return answer.status;
}

export async function refusedInTime(url: string, token: string): Promise<void> {
  const refused = async (): Promise<boolean> => (await httpStatus(`${url}/v1/auth/identity`, token)) === 401;
  await within(revokedWithinMs, "the token is refused", refused);
}

export interface RpcStatuses {
  of(run: RunFile, path: string, token: string): Promise<string>;
  close(): void;
}

/** One client for each service of each start: opening a connection takes longer than a call. */
export function rpcStatuses(): RpcStatuses {
  const clients = new Map<string, TestClient>();
  return {
    async of(run, path, token) {
      const service = path.includes(".Operations/") ? "operations" : "riskengine";
      const [host = "", port = ""] = (run.addresses[service] ?? "").split(":");
      const key = `${run.pid} ${host}:${port}`;
      const client = clients.get(key) ?? testClient({ host, port: Number(port) });
      clients.set(key, client);
      const metadata = { authorization: `Bearer ${token}` };
      return (await client.rawCall(path, Buffer.alloc(0), undefined, { metadata })).status;
    },
    close: () => {
      for (const client of clients.values()) client.close();
    },
  };
}

export const currentStep = (): number => Math.floor(Date.now() / stepMs);

export const codeAt = (secret: string, step: number): string =>
  new TOTP({ secret }).generate({ timestamp: step * stepMs });

/** Codes of one secret, each good once: the step before, this one and the next, and then one with every step. */
export function unusedCodes(secret: string): () => Promise<string> {
  let last = -1;
  return async () => {
    last = Math.max(last + 1, currentStep() - 1);
    const waitMs = (last - 1) * stepMs - Date.now();
    if (waitMs > 0) await pause(waitMs);
    return codeAt(secret, last);
  };
}
