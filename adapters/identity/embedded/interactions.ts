// The pages between a request for a login and its answer: prove who you are, then approve or deny. The library keeps what was asked and
// goes on from where we send the browser; a cookie that only this interaction's address gets ties the browser to it.
import type { IncomingMessage, ServerResponse } from "node:http";
import type { InteractionResults } from "oidc-provider";
import { approvalNeeds, approvalProblem, type Interaction } from "./device-approval.ts";
import { deviceFactsOf } from "./device-pages.ts";
import { readForm } from "./form-body.ts";
import type { Library, ProviderInstance } from "./load-library.ts";
import { newGrant } from "./new-grant.ts";
import { type EmbeddedProviderOptions, scopes } from "./options.ts";
import { type Page, sendPage } from "./page-frame.ts";
import {
  type ApprovalProblem,
  consentPage,
  type DeviceFacts,
  errorPage,
  type LoginProblem,
  loginPage,
} from "./pages.ts";
import { type GrantFacts, isFromOurPage, type RequestScope, remoteAddressOf } from "./request-scope.ts";

interface InteractionOptions extends Pick<EmbeddedProviderOptions, "people" | "factors" | "sessionS"> {
  readonly scope: RequestScope;
  readonly library: Library;
  readonly issuer: URL;
  /** Where a browser may end up after a form: the clients' own addresses. */
  readonly formOrigins: readonly string[];
}

const interactionPath = /^\/interaction\/([A-Za-z0-9_-]{10,64})$/;
const nameLengthMax = 200;
const passwordLengthMax = 1_024;

/** Which interaction a path belongs to, without the issuer's part. */
export function interactionIdOf(path: string): string | undefined {
  return interactionPath.exec(path)?.[1];
}

export function createInteractions(options: InteractionOptions) {
  const { people, library, issuer, formOrigins } = options;

  async function clientNameOf(provider: ProviderInstance, interaction: Interaction): Promise<string> {
    const clientId = String(interaction.params["client_id"]);
    const client = await provider.Client.find(clientId);
    return client?.clientName ?? clientId;
  }

  async function askToLogIn(
    provider: ProviderInstance,
    interaction: Interaction,
    tried?: { readonly name: string; readonly problem: LoginProblem },
  ): Promise<Page> {
    return loginPage({ clientName: await clientNameOf(provider, interaction), ...tried });
  }

  async function askToApprove(
    provider: ProviderInstance,
    interaction: Interaction,
    problem?: ApprovalProblem,
  ): Promise<Page> {
    const personName = interaction.session?.accountId ?? "";
    const person = await people.find(personName);
    const device = await deviceOf(provider, interaction);
    const needs = await approvalNeeds(interaction, options);
    const redirectUri = interaction.params["redirect_uri"];
    return consentPage({
      clientName: await clientNameOf(provider, interaction),
      personName,
      roles: person?.roles ?? [],
      scopes: askedScopes(interaction),
      sessionS: options.sessionS,
      logOutPath: `${issuer.pathname}/session/end`,
      ...(device === undefined ? {} : { device }),
      ...(needs === undefined ? {} : { needs, problem }),
      ...(typeof redirectUri === "string" ? { returnsTo: new URL(redirectUri).host } : {}),
    });
  }

  async function show(provider: ProviderInstance, interaction: Interaction): Promise<Page> {
    return interaction.prompt.name === "consent"
      ? askToApprove(provider, interaction)
      : askToLogIn(provider, interaction);
  }

  /** What a submitted form leads to: a result for the library, or a page to show again. */
  async function decide(
    provider: ProviderInstance,
    interaction: Interaction,
    form: ReadonlyMap<string, string>,
    remoteAddress: string,
  ): Promise<InteractionResults | Page> {
    const decision = form.get("decision");
    if (decision === "deny") return { error: "access_denied", error_description: "the person said no" };
    if (interaction.prompt.name === "consent") {
      return decision === "approve" ? approve(provider, interaction, form, remoteAddress) : show(provider, interaction);
    }
    const name = (form.get("name") ?? "").trim().slice(0, nameLengthMax);
    const password = form.get("password") ?? "";
    const tried = { name, problem: { kind: "wrong" } as LoginProblem };
    if (name === "" || password === "" || password.length > passwordLengthMax)
      return askToLogIn(provider, interaction, tried);
    const proved = await people.authenticate(name, password, remoteAddress);
    if (proved.ok) return { login: { accountId: proved.name, amr: ["pwd"] } };
    const { retryAfterS } = proved;
    if (retryAfterS === undefined) return askToLogIn(provider, interaction, tried);
    return askToLogIn(provider, interaction, {
      name,
      problem: { kind: "throttled", retryAfterS: Math.ceil(retryAfterS) },
    });
  }

  /** A grant of its own for every approval, so that each device and desk is one session that can be ended alone. */
  async function approve(
    provider: ProviderInstance,
    interaction: Interaction,
    form: ReadonlyMap<string, string>,
    remoteAddress: string,
  ): Promise<InteractionResults | Page> {
    // Sent twice in a hurry, the form still opens one session.
    const before = interaction.result?.consent?.grantId;
    if (before !== undefined) return { consent: { grantId: before } };
    const needs = await approvalNeeds(interaction, options);
    const problem =
      needs === undefined ? undefined : await approvalProblem(interaction, { needs, form, remoteAddress }, options);
    if (problem !== undefined) return askToApprove(provider, interaction, problem);
    const grant = newGrant(provider, {
      accountId: interaction.session?.accountId ?? "",
      clientId: String(interaction.params["client_id"]),
      scope: askedScopes(interaction).join(" "),
    });
    const facts: GrantFacts = {
      sessionUid: interaction.session?.uid ?? "",
      ...(await deviceOf(provider, interaction)),
    };
    return { consent: { grantId: await options.scope.granting(facts, () => grant.save()) } };
  }

  async function answer(
    provider: ProviderInstance,
    request: IncomingMessage,
    response: ServerResponse,
  ): Promise<Page | undefined> {
    if (request.method !== "GET" && request.method !== "HEAD" && request.method !== "POST") {
      return errorPage(405, "This page takes no such request.", "method_not_allowed");
    }
    if (request.method === "POST" && !isFromOurPage(issuer, request)) {
      return errorPage(403, "The form was not sent from our own page.", "foreign_form");
    }
    const interaction = await provider.interactionDetails(request, response);
    if (interaction.uid !== interactionIdOf(pathOf(request)))
      throw new library.errors.SessionNotFound("another interaction");
    if (request.method !== "POST") return show(provider, interaction);
    const form = await readForm(request);
    if (form === undefined) {
      response.setHeader("connection", "close");
      return errorPage(400, "The form could not be read.", "invalid_form");
    }
    const result = await decide(provider, interaction, form, remoteAddressOf(request));
    if (isPage(result)) return result;
    await provider.interactionFinished(request, response, result);
    return undefined;
  }

  return {
    async handle(provider: ProviderInstance, request: IncomingMessage, response: ServerResponse): Promise<void> {
      const page = await answer(provider, request, response).catch((thrown: unknown) => {
        if (!(thrown instanceof library.errors.SessionNotFound)) throw thrown;
        return errorPage(400, "This login has expired or belongs to another browser.", "login_not_found");
      });
      if (page !== undefined) sendPage(response, page, formOrigins);
    },
  };
}

function isPage(result: InteractionResults | Page): result is Page {
  return "body" in result && "title" in result;
}

function pathOf(request: IncomingMessage): string {
  return (request.url ?? "").split("?", 1)[0] ?? "";
}

function askedScopes(interaction: Interaction): readonly string[] {
  const asked = String(interaction.params["scope"] ?? "").split(" ");
  return scopes.filter((scope) => asked.includes(scope));
}

async function deviceOf(provider: ProviderInstance, interaction: Interaction): Promise<DeviceFacts | undefined> {
  if (interaction.deviceCode === undefined) return undefined;
  const code = await provider.DeviceCode.find(interaction.deviceCode);
  return code === undefined ? undefined : deviceFactsOf(code.deviceInfo, code.userCode ?? "");
}
