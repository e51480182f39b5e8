// `ctl auth login`: the device flow against whichever issuer the server names, or the development operators of a platform on this machine.
// Nothing is kept before the server has accepted the token.
import { dirname } from "node:path";
import { exitCodes } from "../../../contracts/src/codes/shape.ts";
import type { AnswerOf } from "../../client/src/types.ts";
import { interrupted, Refusal } from "../failure.ts";
import type { OpenBrowser } from "../login/browser.ts";
import type { DeviceCode, IssuerFacts, Tokens } from "../login/issuer.ts";
import { ensureWritable, removeMade, writeProfile } from "../login/profile.ts";
import { lockPathOf, underLock } from "../login/profile-lock.ts";
import { fromPortcullis, notPortcullis } from "../reach.ts";
import type { Settings } from "../settings.ts";
import { clean, moment, pairs } from "../text/text.ts";
import type { Answer, Context, Verb } from "./verb.ts";

type LoginConfiguration = AnswerOf<"getLoginConfiguration">;
type IdentityAnswer = AnswerOf<"getIdentity">;

export const authLogin: Verb = {
  name: "auth login",
  heading: "Your login",
  sentence: "Log in, and keep the login under a profile name.",
  about:
    "Shows a code and an address; approve the code in any browser, on any machine. The login is kept in a file that only you can read and is " +
    "renewed by itself. --dev logs in as a development operator without a browser; only a platform that runs for development knows them.",
  arguments: [],
  options: [
    {
      name: "dev",
      value: "NAME",
      values: ["duty", "relief", "viewer"],
      sentence: "Log in as this development operator (duty, relief, viewer) from dev-credentials.json.",
    },
    { name: "no-browser", sentence: "Do not try to open a browser here; only show the address." },
  ],
  examples: [
    { command: "ctl auth login", sentence: "Log in with a browser." },
    { command: "ctl auth login --dev duty", sentence: "Log in to the platform on this machine." },
    {
      command: "ctl auth login --server https://desk.example.com --profile desk",
      sentence: "Keep a second login apart.",
    },
  ],
  operation: "LogIn",
  changesState: true,
  run,
};

async function run(context: Context): Promise<Answer> {
  const settings = context.settings();
  // Before anybody is asked: a login that cannot be kept would live on the server and nowhere else.
  const made = ensureWritable(dirname(settings.profilePath));
  if (settings.damaged !== undefined) context.terminal.say(`${clean(settings.damaged.message)} It is written anew.`);
  try {
    return await loggedIn(context, settings);
  } catch (error) {
    removeMade(made);
    throw error;
  }
}

async function loggedIn(context: Context, settings: Settings): Promise<Answer> {
  const client = await context.clientWith(undefined);
  const configuration = await fromPortcullis(settings.server.value, () => client.getLoginConfiguration());
  const facts = factsOf(configuration, settings.server.value);
  const dev = context.option("dev");
  const tokens =
    dev === undefined
      ? await withBrowser(context, facts, configuration)
      : await asDeveloper(context, dev, facts, configuration);
  if (context.signal.aborted) throw interrupted();
  const identity = await accepted(context, facts, tokens);
  if (settings.stored !== undefined && settings.stored.server !== settings.server.value) {
    context.terminal.say(
      `The profile "${settings.profile.value}" was a login at ${settings.stored.server}; it is replaced.`,
    );
  }
  const profile = { server: settings.server.value, ...facts, name: identity.name, ...tokens };
  await underLock(lockPathOf(settings.profilePath), context, async () => writeProfile(settings.profilePath, profile));
  if (settings.token !== undefined) {
    context.terminal.say(
      context.terminal.paint.yellow("PORTCULLIS_TOKEN is set and goes before this login: unset it to use the login."),
    );
  }
  return {
    data: {
      ...identity,
      server: settings.server.value,
      profile: settings.profile.value,
      profile_path: settings.profilePath,
    },
    text: pairs([
      ["Logged in as", identity.actor],
      ["Roles", identity.roles.join(", ") || "none"],
      ["Server", settings.server.value],
      ["Profile", `${settings.profile.value} (${settings.profilePath})`],
      [
        "Token",
        `until ${moment(tokens.expires_at, context.clock.now())}${tokens.refresh_token === undefined ? "" : ", renewed by itself"}`,
      ],
    ]),
    next: nextSteps(identity),
  };
}

function nextSteps(identity: IdentityAnswer): readonly string[] {
  const factor = identity.second_factor;
  const missing = factor !== null && factor.enrolled_at === null;
  return [
    ...(missing ? ["ctl auth enrol-totp   set up the second factor that dangerous actions ask for"] : []),
    "ctl auth whoami",
  ];
}

function factsOf(configuration: LoginConfiguration, server: string): IssuerFacts {
  const issuer = configuration.authorization_servers?.[0];
  const { client_id, audience } = configuration;
  if (typeof issuer !== "string" || typeof client_id !== "string" || typeof audience !== "string") {
    throw notPortcullis(server);
  }
  return { issuer, client_id, audience };
}

async function withBrowser(context: Context, facts: IssuerFacts, configuration: LoginConfiguration): Promise<Tokens> {
  const [{ deviceLogin }, { openBrowser }] = await Promise.all([
    import("../login/issuer.ts"),
    import("../login/browser.ts"),
  ]);
  const { clock, timers, signal } = context;
  return deviceLogin(facts, {
    scope: configuration.scopes,
    clock,
    timers,
    signal,
    show: (code) => show(context, code, openBrowser),
  });
}

function show(context: Context, code: DeviceCode, openBrowser: OpenBrowser): void {
  const { terminal } = context;
  const address = clean(code.verification_uri_complete ?? code.verification_uri);
  terminal.say(`Open    ${terminal.paint.cyan(address)}`);
  if (code.verification_uri_complete !== undefined) terminal.say(`   or   ${clean(code.verification_uri)}`);
  terminal.say(`Code    ${terminal.paint.bold(clean(code.user_code))}`);
  terminal.say(`Compare the code in the browser with this one before you approve. Waiting; Ctrl-C ends it.`);
  if (terminal.interactive && !context.switched("no-browser")) openBrowser(address, context.environment);
}

async function asDeveloper(
  context: Context,
  name: string,
  facts: IssuerFacts,
  configuration: LoginConfiguration,
): Promise<Tokens> {
  const server = context.settings().server.value;
  if (configuration.development_login !== true) {
    throw new Refusal(
      exitCodes.forbidden,
      "DEVELOPMENT_LOGIN_OFF",
      `${server} has no development operators: it runs in production or with an issuer of its own.`,
      "Log in with a browser: `ctl auth login`.",
    );
  }
  const { developmentCredentials } = await import("../data-folder.ts");
  const password = developmentCredentials(context, name);
  const { developmentLogin } = await import("../login/issuer.ts");
  return developmentLogin(facts, { name, password, scope: configuration.scopes }, context.clock.now());
}

/** Who the server takes us for. When it does not accept the token, the login at the issuer is ended again. */
async function accepted(context: Context, facts: IssuerFacts, tokens: Tokens): Promise<IdentityAnswer> {
  try {
    return await (await context.clientWith(tokens.token)).getIdentity();
  } catch (error) {
    if (tokens.refresh_token !== undefined) {
      const { revoke } = await import("../login/issuer.ts");
      await revoke(facts, tokens.refresh_token).catch(() => {
        // What failed first is what the caller hears; the token is forgotten here and runs out there.
        context.terminal.say("The login at the issuer could not be ended; it runs out by itself.");
      });
    }
    throw error;
  }
}
