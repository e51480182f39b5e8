// `<data dir>/dev-credentials.json`: the credentials of the development operators, for people and scripts on this machine. It is
// written before anything believes in it, whole or not at all, and only its owner can read it.

import { chmod, lstat, readFile, rm } from "node:fs/promises";
import { dirname, join } from "node:path";
import { z } from "zod";
import type { Role } from "../../contracts/src/authority.ts";
import { Fault, messageOf } from "../../contracts/src/fault.ts";
import { parseJson } from "../../contracts/src/parse-json.ts";
import type { Log } from "../../ports/log.ts";
import type { Random } from "../../ports/random.ts";
import { errnoOf, replaceFile, syncFolder } from "../secrets-file/durable-file.ts";
import { newTotpSecret } from "./one-time-codes.ts";
import { newServiceToken, serviceTokenForm } from "./service-token-text.ts";

const credentialsFileName = "dev-credentials.json";

const developmentOperators: readonly { readonly name: string; readonly roles: readonly Role[] }[] = [
  { name: "duty", roles: ["operator", "risk_officer", "admin"] },
  { name: "relief", roles: ["operator", "risk_officer"] },
  { name: "viewer", roles: ["viewer"] },
];

const content = z
  .object({
    operators: z.array(
      z.object({
        name: z.string(),
        roles: z.array(z.enum(["viewer", "operator", "risk_officer", "admin"])).min(1),
        password: z.string().min(16).max(256),
        totp_secret: z.string().regex(/^[A-Z2-7]{32}$/),
      }),
    ),
    service_token: z.string().regex(serviceTokenForm),
  })
  .refine(({ operators }) => {
    const names = operators.map(({ name }) => name).sort();
    return names.join() === developmentOperators.map(({ name }) => name).join();
  });

export type DevelopmentCredentials = z.infer<typeof content>;

export interface CredentialsFile {
  readonly path: string;
  /** Undefined when there is none, or when it is damaged, which is logged. */
  read(): Promise<DevelopmentCredentials | undefined>;
  /** On disk when this resolves. */
  write(credentials: DevelopmentCredentials): Promise<void>;
  /** Whether there was one. */
  remove(): Promise<boolean>;
}

const passwordBytes = 24;
const fileBytesMax = 65_536;

export function newCredentials(random: Random): DevelopmentCredentials {
  return {
    operators: developmentOperators.map(({ name, roles }) => ({
      name,
      roles: roles.filter((role) => role !== "service"),
      password: Buffer.from(random.bytes(passwordBytes)).toString("base64url"),
      totp_secret: newTotpSecret(random),
    })),
    service_token: newServiceToken(random).token,
  };
}

export function openCredentialsFile(dataFolder: string, log: Log): CredentialsFile {
  const path = join(dataFolder, credentialsFileName);
  // One process holds the data folder, so a file of this name can only be left over from one that died.
  const temporary = `${path}.tmp`;

  async function onDisk<T>(doing: string, work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (thrown) {
      if (errnoOf(thrown) === undefined) throw thrown;
      throw new Fault("DATA_FOLDER_UNUSABLE", `Could not ${doing} ${path}: ${messageOf(thrown)}.`, {
        retry: "never",
        facts: { path },
      });
    }
  }

  async function readText(): Promise<string | undefined> {
    const facts = await lstat(path).catch((thrown: unknown) => {
      if (errnoOf(thrown) === "ENOENT") return undefined;
      throw thrown;
    });
    if (facts === undefined) return undefined;
    if (!facts.isFile() || facts.size > fileBytesMax) return "";
    if ((facts.mode & 0o077) !== 0) {
      await chmod(path, 0o600);
      log.warn("others could read the development credentials; that is mended, but remove the file if they may have", {
        path,
      });
    }
    return readFile(path, "utf8");
  }

  return {
    path,
    read: () =>
      onDisk("read", async () => {
        const text = await readText();
        if (text === undefined) return undefined;
        const credentials = parsed(text);
        if (credentials === undefined)
          log.warn("the development credentials are damaged and will be replaced", { path });
        return credentials;
      }),
    write: (credentials) =>
      onDisk("write", async () => {
        await rm(temporary, { force: true });
        const bytes = Buffer.from(`${JSON.stringify(credentials, null, 2)}\n`, "utf8");
        await replaceFile(path, temporary, bytes, async () => undefined);
      }),
    remove: () =>
      onDisk("remove", async () => {
        await rm(temporary, { force: true });
        try {
          await rm(path);
        } catch (thrown) {
          if (errnoOf(thrown) === "ENOENT") return false;
          throw thrown;
        }
        await syncFolder(dirname(path));
        return true;
      }),
  };
}

function parsed(text: string): DevelopmentCredentials | undefined {
  try {
    return content.safeParse(parseJson(text)).data;
  } catch (thrown) {
    if (thrown instanceof SyntaxError) return undefined;
    throw thrown;
  }
}
