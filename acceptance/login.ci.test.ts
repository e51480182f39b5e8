// The command line and its logins with an issuer that is not ours, on a platform of its own: the same device flow, the same table of who may what, the second
// factor, revocations, and an issuer that is away.
import { type ChildProcess, spawn } from "node:child_process";
import { existsSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { describedServices } from "../adapters/grpc/definitions.ts";
import { mayCall, type Operation, type Role } from "../contracts/src/authority.ts";
import { type Ctl, ctlIn } from "../testkit/ctl/ctl.ts";
import {
  codeAt,
  currentStep,
  httpStatus,
  refusedInTime,
  revokedWithinMs,
  rpcStatuses,
} from "../testkit/ctl/login-checks.ts";
import { openBrowser } from "../testkit/form-browser.ts";
import { allOr } from "../testkit/full-count.ts";
import { fetchOnNewConnection } from "../testkit/http/fetch-on-new-connection.ts";
import { giveMadeDatabase } from "../testkit/made-cluster.ts";
import { type Platform, startPlatform, temporaryFolder, within } from "../testkit/platform.ts";

const folder = temporaryFolder("login-elsewhere");
const statuses = rpcStatuses();

afterAll(() => {
  statuses.close();
  rmSync(folder, { recursive: true, force: true });
});

interface IssuerProcess {
  readonly child: ChildProcess;
  readonly issuer: string;
  readonly clientId: string;
}

/** An issuer in a process and on a port of its own; it knows erika, who may do everything, and max, who may look. */
async function startIssuer(more: readonly string[]): Promise<IssuerProcess> {
  const main = join(import.meta.dirname, "..", "testkit", "second-issuer-main.ts");
  const words = ["--import", "tsx", main, "--roles-claim", "realm_access.roles", ...more];
  const child = spawn(process.execPath, words, {
    cwd: join(import.meta.dirname, ".."),
    stdio: ["ignore", "pipe", "inherit"],
  });
  for await (const line of createInterface({ input: child.stdout })) {
    if (!line.startsWith("{")) continue;
    const { issuer, client_id } = JSON.parse(line) as { issuer: string; client_id: string };
    return { child, issuer, clientId: client_id };
  }
  throw new Error("the second issuer did not start");
}

const variants = [
  { name: "ID tokens as proof", kind: "id_token", issuerWords: [], settings: {} },
  {
    name: "JWT access tokens for an audience",
    kind: "access_token",
    issuerWords: ["--audience", "portcullis-api"],
    settings: { PORTCULLIS_OIDC_AUDIENCE: "portcullis-api" },
  },
] as const;

/** The short suite takes the first: the second repeats it with the issuer's other kind of token. */
const tried = allOr<(typeof variants)[number]>(variants, variants.slice(0, 1));

const people: Readonly<Record<string, readonly Role[]>> = {
  erika: ["operator", "risk_officer", "admin"],
  max: ["viewer"],
};

interface Elsewhere {
  readonly issuer: IssuerProcess;
  readonly platform: Platform;
  readonly url: string;
  readonly ctl: Ctl;
}

async function startElsewhere(variant: (typeof variants)[number]): Promise<Elsewhere> {
  const issuer = await startIssuer(variant.issuerWords);
  giveMadeDatabase(join(folder, variant.kind));
  const platform = startPlatform({
    dataFolder: join(folder, variant.kind),
    environment: {
      PORTCULLIS_OIDC_ISSUER: issuer.issuer,
      PORTCULLIS_OIDC_CLIENT_ID: issuer.clientId,
      PORTCULLIS_OIDC_ROLES_CLAIM: "realm_access.roles",
      ...variant.settings,
    },
  });
  try {
    await platform.ready();
  } catch (thrown) {
    issuer.child.kill("SIGKILL");
    await platform.end();
    throw thrown;
  }
  const url = `http://${platform.runFile().addresses["gateway"]}`;
  const environment = { PORTCULLIS_URL: url, PORTCULLIS_DATA_DIR: platform.dataFolder };
  return { issuer, platform, url, ctl: ctlIn(join(folder, `home-${variant.kind}`), environment) };
}

describe.each(tried)("with an issuer that is not ours, $name", { timeout: 90_000 }, (variant) => {
  let ctl: Ctl;
  let issuer: IssuerProcess;
  let platform: Platform;
  let url: string;

  beforeAll(async () => {
    ({ ctl, issuer, platform, url } = await startElsewhere(variant));
  }, 180_000);

  afterAll(async () => {
    await ctl?.end();
    issuer?.child.kill("SIGKILL");
    await platform?.end();
  }, 60_000);

  const tokenOf = (name: string): string => ctl.profile(name)["token"] ?? "";

  test("development operators do not exist", async () => {
    const refused = await ctl.json(5, "auth", "login", "--dev", "duty");
    expect(refused).toMatchObject({ code: "DEVELOPMENT_LOGIN_OFF", exit_code: 5 });
    expect(existsSync(join(platform.dataFolder, "dev-credentials.json"))).toBe(false);
    expect(await httpStatus(`${url}/oidc/token`, undefined, "POST")).toBe(401);
  });

  test("the same device flow logs in there", async () => {
    await Promise.all(
      Object.entries(people).map(async ([name, roles]) => {
        const login = await ctl.logIn("--profile", name, "--json");
        expect(new URL(login.url).origin).toBe(issuer.issuer);
        const browser = openBrowser();
        await browser.open(login.plainUrl);
        await browser.submit({ user_code: login.userCode });
        await browser.submit({});
        expect(await browser.submit({ name })).toContain("You are logged in");
        const { exit, stderr } = await login.ended;
        expect(exit, stderr).toBe(0);
        expect(await ctl.json(0, "auth", "whoami", "--profile", name)).toMatchObject({
          actor: `operator:${name}`,
          roles,
          issuer: issuer.issuer,
        });
        expect(ctl.profile(name)).toMatchObject({ token_kind: variant.kind, issuer: issuer.issuer });
      }),
    );
  });

  test("a role may do what the table says and no more", async () => {
    const document = (await (await fetchOnNewConnection(`${url}/v1/openapi.json`)).json()) as {
      paths: Record<string, Record<string, { readonly "x-operation": Operation; readonly servers?: unknown }>>;
    };
    // These would end the logins that are still needed.
    const ends: readonly Operation[] = ["LogOut", "RevokeSessions", "RotateSigningKeys"];
    let asked = 0;
    for (const [name, roles] of Object.entries(people)) {
      for (const [path, methods] of Object.entries(document.paths)) {
        for (const [method, { "x-operation": operation, servers }] of Object.entries(methods)) {
          // What only the public listener serves says where that is.
          if (servers !== undefined) continue;
          const isAllowed = mayCall(operation, { roles });
          if (isAllowed && ends.includes(operation)) continue;
          const status = await httpStatus(
            url + path.replaceAll(/\{[^}]+\}/g, "unknown"),
            tokenOf(name),
            method.toUpperCase(),
          );
          const said = `${method} ${path} as ${name}`;
          if (isAllowed) expect([401, 403], said).not.toContain(status);
          else expect(status, said).toBe(403);
          asked += 1;
        }
      }
      const procedures = describedServices.filter((each) => ["RiskEngine", "Operations"].includes(each.name));
      for (const method of procedures.flatMap(({ methods }) => methods)) {
        const status = await statuses.of(platform.runFile(), method.path, tokenOf(name));
        const said = `${method.path} as ${name}`;
        if (mayCall(method.name as Operation, { roles }))
          expect(["UNAUTHENTICATED", "PERMISSION_DENIED"], said).not.toContain(status);
        else expect(status, said).toBe("PERMISSION_DENIED");
        asked += 1;
      }
    }
    expect(asked).toBeGreaterThan(50);
  });

  test("second factor, step-up and tokens of machines work there too", async () => {
    const asErika = ["--profile", "erika"];
    const { secret } = (await ctl.json(8, "auth", "enrol-totp", ...asErika)) as { secret: string };
    const step = currentStep();
    const confirmed = await ctl.json(0, "auth", "enrol-totp", "--code", codeAt(secret, step), ...asErika);
    expect(confirmed["recovery_codes"]).toHaveLength(10);
    const issue = ["auth", "tokens", "issue", "acme-oms", "--operation", "GetEnvelope", "--expires-in", "1h"];
    const replayed = await ctl.json(5, ...issue, "--totp", codeAt(secret, step), ...asErika);
    expect(replayed).toMatchObject({ code: "SECOND_FACTOR_WRONG" });
    const issued = await ctl.json(0, ...issue, "--totp", codeAt(secret, step + 1), ...asErika);
    const run = platform.runFile();
    expect(await statuses.of(run, "/svc.v1.RiskEngine/GetEnvelope", String(issued["token"]))).toBe("NOT_FOUND");
    expect(await statuses.of(run, "/svc.v1.RiskEngine/CheckOrder", String(issued["token"]))).toBe("PERMISSION_DENIED");
    const refused = await ctl.json(5, ...issue, "--totp", "123456", "--profile", "max");
    expect(["PERMISSION_DENIED", "SECOND_FACTOR_MISSING"]).toContain(refused["code"]);
  });

  test("a person whose logins were ended is refused in time, everywhere", async () => {
    const token = tokenOf("max");
    expect(await statuses.of(platform.runFile(), "/svc.v1.RiskEngine/GetEnvelope", token)).toBe("NOT_FOUND");
    expect((await ctl.run("auth", "revoke-sessions", "max", "--profile", "erika")).exit).toBe(0);
    const paths = ["/svc.v1.RiskEngine/GetEnvelope", "/svc.v1.Operations/ListActiveHalts"];
    const refused = async (path: string) => (await statuses.of(platform.runFile(), path, token)) === "UNAUTHENTICATED";
    await Promise.all([
      refusedInTime(url, token),
      ...paths.map((path) => within(revokedWithinMs, `${path} is refused`, () => refused(path))),
    ]);
    expect(await ctl.json(4, "auth", "whoami", "--profile", "max")).toMatchObject({ code: "UNAUTHENTICATED" });
    expect((await ctl.run("auth", "whoami", "--profile", "erika")).exit).toBe(0);
  });

  test("while the issuer is away, who has logged in goes on", async () => {
    const ended = new Promise((resolve) => issuer.child.once("exit", resolve));
    issuer.child.kill("SIGTERM");
    await ended;
    await expect(fetchOnNewConnection(issuer.issuer)).rejects.toThrow();
    expect((await ctl.run("auth", "whoami", "--profile", "erika")).exit).toBe(0);
    expect(await statuses.of(platform.runFile(), "/svc.v1.Operations/ListActiveHalts", tokenOf("erika"))).toBe("OK");
    const login = await ctl.json(9, "auth", "login", "--profile", "other");
    expect(login).toMatchObject({ code: "IDENTITY_UNAVAILABLE", exit_code: 9 });
    // The renewal fails, and what is left of the token is used.
    const token = tokenOf("erika");
    const kept = { ...ctl.profile("erika"), expires_at: new Date(Date.now() + 20_000).toISOString() };
    writeFileSync(ctl.profilePath("erika"), JSON.stringify(kept));
    expect((await ctl.run("auth", "whoami", "--profile", "erika")).exit).toBe(0);
    const out = await ctl.json(9, "auth", "logout", "--profile", "erika");
    expect(out).toMatchObject({ logged_out: true, ended_on_server: true, ended_at_issuer: false });
    await refusedInTime(url, token);
  });
});
