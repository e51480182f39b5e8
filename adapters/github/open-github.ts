// GitHub as the bot's forge, by its own libraries: as the App with a signed token, and in one repository with a token that was made for one run.
import { createAppAuth } from "@octokit/auth-app";
import { Octokit } from "@octokit/core";
import { retry } from "@octokit/plugin-retry";
import { throttling } from "@octokit/plugin-throttling";
import { z } from "zod";
import { toUnixMs } from "../../contracts/src/instant.ts";
import type { Clock } from "../../ports/clock.ts";
import type { ForgeApp, ForgeCall, HookDelivery, Permissions } from "../../ports/forge.ts";
import { githubFault, refusal, withReadFaults } from "./github-fault.ts";
import { type Fetch, guardedFetch } from "./guarded-fetch.ts";
import { type Call, openRepository } from "./repository-forge.ts";

interface GithubOptions {
  /** https://api.github.com, or that of a server of one's own. */
  readonly apiUrl: string;
  readonly appId: number;
  readonly privateKey: string;
  readonly clock: Clock;
  /** The network; of tests it is a server in memory. */
  readonly fetch?: Fetch;
  /** Off only where nobody counts: without it, reads are tried again and writes keep their distance. */
  readonly isPaced?: boolean;
}

const Client = Octokit.plugin(retry, throttling);
const apiVersion = "2022-11-28";
const limitSecondsMax = 5;
const readTries = 2;

const permissionsOf = z.record(z.string(), z.string());
const appAnswer = z.object({
  id: z.number(),
  slug: z.string(),
  permissions: permissionsOf,
  events: z.array(z.string()),
});
const installationAnswer = z.object({
  id: z.number(),
  permissions: permissionsOf,
  events: z.array(z.string()),
  suspended_at: z.string().nullish(),
});
const deliveriesAnswer = z.array(
  z.object({
    id: z.coerce.number(),
    guid: z.string(),
    delivered_at: z.string(),
    redelivery: z.boolean(),
    event: z.string(),
    status_code: z.number(),
  }),
);
const tokenAnswer = z.object({ token: z.string().min(20) });

export function openGithub(options: GithubOptions): ForgeApp {
  const asApp = (heard: (call: ForgeCall) => void): Call =>
    callerOf(
      options,
      "app",
      { authStrategy: createAppAuth, auth: { appId: options.appId, privateKey: options.privateKey } },
      heard,
    );
  const call = asApp(() => undefined);
  return withReadFaults<ForgeApp>({
    async app() {
      const { data } = await call("GET /app");
      const { id, slug, permissions, events } = appAnswer.parse(data);
      return { id, slug, permissions, events };
    },
    async installation(org) {
      const { data } = await call("GET /orgs/{org}/installation", { path: { org } });
      const { id, permissions, events, suspended_at } = installationAnswer.parse(data);
      return { id, permissions, events, suspendedAt: suspended_at ?? undefined };
    },
    async setHook({ url, secret }) {
      await call("PATCH /app/hook/config", { body: { url, content_type: "json", insecure_ssl: "0", secret } });
    },
    async deliveries(cursor) {
      const query = { per_page: 100, ...(cursor === undefined ? {} : { cursor }) };
      const { data, link } = await call("GET /app/hook/deliveries", { query });
      return { rows: deliveriesAnswer.parse(data).map(deliveryOf), next: cursorOf(link) };
    },
    async redeliver(id) {
      await call("POST /app/hook/deliveries/{id}/attempts", { path: { id } });
    },
    async repository(installationId, repository, permissions, heard = () => undefined) {
      const token = await tokenFor(asApp(heard), installationId, repository, permissions);
      return openRepository(repository, callerOf(options, String(installationId), { auth: token }, heard));
    },
  });
}

async function tokenFor(
  call: Call,
  installation: number,
  repository: string,
  permissions: Permissions,
): Promise<string> {
  const name = repository.slice(repository.indexOf("/") + 1);
  const { data } = await call("POST /app/installations/{installation}/access_tokens", {
    path: { installation },
    body: { repositories: [name], permissions },
  });
  return tokenAnswer.parse(data).token;
}

function callerOf(options: GithubOptions, id: string, auth: object, heard: (call: ForgeCall) => void): Call {
  const { apiUrl, clock, fetch = globalThis.fetch as Fetch, isPaced = true } = options;
  const silent = (): void => undefined;
  const client = new Client({
    baseUrl: apiUrl,
    userAgent: "portcullis",
    log: { debug: silent, info: silent, warn: silent, error: silent },
    request: { fetch: guardedFetch(apiUrl, fetch, heard) },
    throttle: {
      id,
      enabled: isPaced,
      // A short wait is waited out once; a long one puts the work back.
      onRateLimit: (seconds: number, _options: object, _client: object, tries: number) =>
        tries === 0 && seconds <= limitSecondsMax,
      onSecondaryRateLimit: (seconds: number, _options: object, _client: object, tries: number) =>
        tries === 0 && seconds <= limitSecondsMax,
    },
    retry: { enabled: isPaced },
    ...auth,
  });
  return async (route, { path = {}, query = {}, body } = {}) => {
    // A write whose answer was lost may have happened, so it is never sent again by itself.
    const retries = route.startsWith("GET ") ? readTries : 0;
    const headers = { "x-github-api-version": apiVersion };
    try {
      const data = body === undefined ? {} : { data: body };
      const answer = await client.request(route, { ...path, ...query, ...data, headers, request: { retries } });
      if (answer.status >= 300) throw refusal(answer.status, route);
      return { data: answer.data, link: answer.headers.link };
    } catch (thrown) {
      throw githubFault(thrown, route, toUnixMs(clock.now()));
    }
  };
}

function deliveryOf(row: z.infer<typeof deliveriesAnswer>[number]): HookDelivery {
  const { id, guid, delivered_at, redelivery, event, status_code } = row;
  return { id, guid, deliveredAt: delivered_at, redelivery, event, statusCode: status_code };
}

function cursorOf(link: string | undefined): string | undefined {
  const next = link?.split(",").find((part) => part.includes('rel="next"'));
  return next === undefined ? undefined : /[?&]cursor=([A-Za-z0-9_.~%-]+)/.exec(next)?.[1];
}
