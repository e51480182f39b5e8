// The embedded OIDC provider: one library instance per set of signing keys over state that lies in the store, so a new instance can take
// over between two requests while the old one finishes what it has in hand, and a restart in the middle of a login is not noticed.
import type { EventEmitter } from "node:events";
import type { IncomingMessage, ServerResponse } from "node:http";
import type { KoaContextWithOIDC } from "oidc-provider";
import { Fault, messageOf } from "../../../contracts/src/fault.ts";
import { format } from "../../../contracts/src/instant.ts";
import { subjects } from "../../../contracts/src/subjects.ts";
import type { SigningKeys } from "../../../ports/identity.ts";
import { endBrowserLogin } from "../logins/browser-logins.ts";
import { sessionRevocationEnd } from "../logins/revocation-rows.ts";
import { findOrMakeSecret } from "../shared-secret.ts";
import { registerDevelopmentGrant } from "./development-grant.ts";
import { libraryPages } from "./device-pages.ts";
import { createInteractions, interactionIdOf } from "./interactions.ts";
import type { KeyRing } from "./key-ring.ts";
import { type LibraryOptions, libraryConfiguration } from "./library-configuration.ts";
import { checkModelNames, loadLibrary, type ProviderInstance } from "./load-library.ts";
import { actorOf, type EmbeddedProviderOptions } from "./options.ts";
import { pageHeaders, sendPage } from "./page-frame.ts";
import { errorPage } from "./pages.ts";
import { asSentTo, createRequestScope, isUnder, remoteAddressOf } from "./request-scope.ts";
import { openSigningKeys } from "./signing-keys.ts";
import { sessionIdOf } from "./state-adapter.ts";

export interface EmbeddedProvider {
  /** Answers a request under the issuer's path; its body must not have been read. */
  handle(request: IncomingMessage, response: ServerResponse): Promise<void>;
  readonly keys: SigningKeys;
  close(): Promise<void>;
}

/** How often the age of keys is checked. */
const tendEveryMs = 10_000;
/** RFC 8628: how long a device waits between two questions. */
const deviceIntervalS = 5;

/** Forms of the library's that carry a secret of the browser's session. */
const logOutPath = "/session/end/confirm";
const sessionForms: ReadonlySet<string> = new Set(["/device", logOutPath]);
const discoveryPath = "/.well-known/openid-configuration";

interface Instance {
  readonly provider: ProviderInstance;
  readonly answer: (request: IncomingMessage, response: ServerResponse) => Promise<void>;
}

export async function openEmbeddedProvider(options: EmbeddedProviderOptions): Promise<EmbeddedProvider> {
  const { log } = options;
  const issuer = new URL(options.issuer);
  const library = await loadLibrary();
  const scope = createRequestScope();
  // Where the web desk takes its codes.
  const redirectUris = [new URL("auth/callback", options.issuer).href];
  const formOrigins = [...new Set(redirectUris.map((uri) => new URL(uri).origin))];
  const libraryOptions: LibraryOptions = {
    ...options,
    library,
    state: { ...options, library, scope },
    cookieKeys: [await cookieKey(options)],
    redirectUris,
    formOrigins,
  };
  await announceIssuer(options);
  let current: Instance | undefined;
  const keys = await openSigningKeys({
    ...options,
    inForce: (ring) => {
      current = createInstance(libraryOptions, ring);
    },
  });
  const interactions = createInteractions({ ...options, issuer, library, scope, formOrigins });
  const housekeeping = startHousekeeping(options, () => keys.tend());

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    // Taken once: whatever replaces it meanwhile, this request is finished by the instance that began it.
    const instance = current;
    if (instance === undefined || !isUnder(issuer, request)) {
      return sendPage(response, errorPage(404, "There is no such page.", "not_found"), formOrigins);
    }
    await asSentTo(issuer, request, async () => {
      const isInteraction = interactionIdOf((request.url ?? "").split("?", 1)[0] ?? "") !== undefined;
      if (isInteraction) await interactions.handle(instance.provider, request, response);
      else await instance.answer(request, response);
    });
  }

  return {
    keys,
    async handle(request, response) {
      try {
        await scope.run(remoteAddressOf(request), () => answer(request, response));
      } catch (thrown) {
        log.error("the login provider failed to answer", { error: messageOf(thrown) });
        if (response.headersSent) return void response.destroy();
        const status = statusOf(thrown);
        sendPage(
          response,
          errorPage(status, "Something went wrong on our side. Try again in a moment.", "server_error"),
          formOrigins,
        );
      }
    },
    close: housekeeping.stop,
  };
}

function createInstance(options: LibraryOptions, ring: KeyRing): Instance {
  const { log, library } = options;
  const provider = new library.Provider(options.issuer, libraryConfiguration(options, ring));
  checkModelNames(provider);
  const { startAgain } = libraryPages(options.formOrigins);
  // Only the header that we put in ourselves is left to be believed.
  provider.proxy = true;
  if (options.development) registerDevelopmentGrant(provider, options);
  provider.use(async (context, next) => {
    context.set(pageHeaders(options.formOrigins));
    // The library adds its own part later; what is asked of it here does not need that.
    const early = context as unknown as KoaContextWithOIDC;
    if (context.method === "POST" && sessionForms.has(context.path) && !(await hasSession(provider, early))) {
      return startAgain(early);
    }
    await next();
    if (context.path === logOutPath) await endIfLoggedOut(early, options);
    // The clients may use no other, whatever the library itself could do.
    if (context.path === discoveryPath) Object.assign(context.body ?? {}, { response_modes_supported: ["query"] });
    // Where the library added the hash of its own script, the word that forbids all scripts must not stand beside it.
    const policy = context.response.get("content-security-policy");
    context.set("content-security-policy", policy.replace("script-src 'none' ", "script-src "));
    if (context.status === 404 && context.body === undefined) {
      context.status = 404;
      context.body = { error: "not_found", error_description: "there is no such page" };
    }
  });
  provider.on("device_authorization.success", (_context, body) => {
    Object.assign(body, { interval: deviceIntervalS });
  });
  provider.on("server_error", (context: KoaContextWithOIDC, error: Error) => {
    context.status = statusOf(error);
    log.error("the login provider failed", { route: context.oidc?.route, error: messageOf(error) });
  });
  provider.on("grant.error", (_context, error) => log.info("a token request was refused", { error: error.message }));
  // The library's types know only its own events; this one is of the framework below it, which would write to the terminal.
  const framework: EventEmitter = provider;
  framework.on("error", (error: Error) => log.error("the login provider failed", { error: messageOf(error) }));
  return { provider, answer: provider.callback() };
}

/** Whether the browser still has the session that a form of ours belongs to; without one the library fails at its own error page. */
async function hasSession(provider: ProviderInstance, context: KoaContextWithOIDC): Promise<boolean> {
  return (await provider.Session.get(context)).exp !== undefined;
}

/** The library ends the session and the grants that it knows by; what else was made in it ends here, before anybody is answered. */
async function endIfLoggedOut({ oidc }: KoaContextWithOIDC, options: LibraryOptions): Promise<void> {
  const { accountId, uid } = oidc.session ?? {};
  if (accountId === undefined || uid === undefined) return;
  if ((await oidc.provider.Session.findByUid(uid)) !== undefined) return;
  const at = options.clock.now();
  await options.store.transactSql("identity.log_out", ({ events }, sql) =>
    endBrowserLogin(sql, events, sessionIdOf(uid), {
      sealing: options.sealing,
      at,
      until: sessionRevocationEnd(at, options.sessionS),
      actor: actorOf(accountId),
    }),
  );
}

function statusOf(thrown: unknown): number {
  return thrown instanceof Fault && thrown.retry !== "never" ? 503 : 500;
}

/** The key that cookies are signed with. */
function cookieKey({ secrets, secretsPrefix, random }: EmbeddedProviderOptions): Promise<string> {
  const make = () => Buffer.from(random.bytes(32)).toString("base64url");
  return findOrMakeSecret(secrets, `secret/${secretsPrefix}/identity/cookie-key`, make);
}

/** Verifiers in every process read from here whom they believe. */
async function announceIssuer(options: EmbeddedProviderOptions): Promise<void> {
  await options.store.transactSql("identity_issuer", async ({ events }, sql) => {
    const found = await sql.read({ text: "select issuer from identity_issuer" });
    const before: string | undefined = found.rows[0]?.issuer;
    if (before === options.issuer) return;
    await sql.write({
      text: `insert into identity_issuer (issuer, updated_us) values ($1, $2)
             on conflict (one) do update set issuer = excluded.issuer, updated_us = excluded.updated_us`,
      values: [options.issuer, options.clock.now()],
    });
    await events.publish(subjects.configurationChanged, {
      service: "gateway",
      path: "identity.issuer",
      ...(before === undefined ? {} : { old_value: before }),
      new_value: options.issuer,
      redacted: false,
      actor: "service:gateway",
      at: format(options.clock.now()),
    });
  });
}

/** Does the work again and again until stopped; a failure is logged and the next turn tries again. */
function startHousekeeping(options: EmbeddedProviderOptions, work: () => Promise<void>) {
  const stopping = new AbortController();
  const { timers, log } = options;
  const loop = async (): Promise<void> => {
    for (;;) {
      await timers.sleep(tendEveryMs, stopping.signal);
      if (stopping.signal.aborted) return;
      await work().catch((thrown: unknown) =>
        log.warn("the login provider's keys could not be looked after", { error: messageOf(thrown) }),
      );
    }
  };
  const running = loop();
  return {
    async stop(): Promise<void> {
      stopping.abort();
      await running;
    },
  };
}
