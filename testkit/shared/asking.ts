// Requests to the shared platform for what testkit does itself: seeding it, making and ending people, and reading what stands.
import type pg from "pg";
import { addressOfSocket, openPool } from "../../adapters/postgres/connection.ts";
import { ownerRoleName } from "../../adapters/postgres/embedded/cluster.ts";
import type { NamedAction } from "../../ports/identity.ts";
import { grantedProofIn } from "../granted-proof.ts";
import { fetchOnNewConnection } from "../http/fetch-on-new-connection.ts";
import { logInAs, operatorUrl } from "../login.ts";
import type { RunningPlatform } from "../platform.ts";
import { quietLog } from "../quiet-log.ts";

export interface Asking {
  /** As `duty`, who may do everything; a status of 400 or more is an error. */
  ask(method: "GET" | "POST" | "PUT" | "DELETE", path: string, body?: object, token?: string): Promise<unknown>;
  /** The same with a proof of the second factor for exactly this, given out past the authenticator. */
  askProven(method: "POST" | "PUT", path: string, named: NamedAction, body: object): Promise<unknown>;
}

export async function withAsking<Result>(
  platform: RunningPlatform,
  work: (asking: Asking) => Promise<Result>,
): Promise<Result> {
  const { host, port } = platform.runFile().database;
  const owner = openPool(addressOfSocket(host, port, ownerRoleName).owner, {
    log: quietLog,
    applicationName: "testkit",
    sizeMax: 1,
  });
  try {
    const { access_token: duty } = await logInAs(platform, "duty");
    return await work(askingAs(platform, duty, owner));
  } finally {
    await owner.end();
  }
}

function askingAs(platform: RunningPlatform, duty: string, owner: pg.Pool): Asking {
  const ask: Asking["ask"] = async (method, path, body, token = duty) => {
    const answer = await fetchOnNewConnection(`${operatorUrl(platform)}${path}`, {
      method,
      headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const document: unknown = await answer.json();
    if (answer.status >= 400) throw new Error(`${method} ${path} was refused: ${JSON.stringify(document)}`);
    return document;
  };
  return {
    ask,
    askProven: async (method, path, named, body) =>
      ask(method, path, { ...body, step_up_proof: await grantedProofIn(owner, duty, named) }),
  };
}
