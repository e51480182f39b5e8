// What a person shows to let a device in: the password, unless it was typed on the page before, and a code where a second factor is set up. A browser that
// is logged in proves who logged in, not who sits at it; a device's login outlives the browser's.
import type { InteractionResults } from "oidc-provider";
import type { ProviderInstance } from "./load-library.ts";
import { actorOf, type EmbeddedProviderOptions, type FactorOwner, subjectOf } from "./options.ts";
import { type ApprovalNeeds, type ApprovalProblem, waitSentence } from "./pages.ts";

export type Interaction = Awaited<ReturnType<ProviderInstance["interactionDetails"]>>;

type ApprovalOptions = Pick<EmbeddedProviderOptions, "people" | "factors"> & { readonly issuer: URL };

const passwordLengthMax = 1_024;
const codeLengthMax = 64;

/** Undefined where a click is enough: no device asks. */
export async function approvalNeeds(
  interaction: Interaction,
  options: ApprovalOptions,
): Promise<ApprovalNeeds | undefined> {
  if (interaction.deviceCode === undefined) return undefined;
  return { password: !isFresh(interaction), code: await options.factors.isEnrolled(ownerOf(interaction, options)) };
}

/** What is wrong with what was typed; undefined when it proves who sits there. */
export async function approvalProblem(
  interaction: Interaction,
  { needs, form, remoteAddress }: { needs: ApprovalNeeds; form: ReadonlyMap<string, string>; remoteAddress: string },
  options: ApprovalOptions,
): Promise<ApprovalProblem | undefined> {
  const name = nameOf(interaction);
  if (needs.password) {
    const password = form.get("password") ?? "";
    if (password === "" || password.length > passwordLengthMax) return { sentence: wrongPassword };
    const proved = await options.people.authenticate(name, password, remoteAddress);
    if (!proved.ok) {
      const { retryAfterS } = proved;
      return retryAfterS === undefined ? { sentence: wrongPassword } : throttled(retryAfterS);
    }
  }
  if (!needs.code) return undefined;
  // After the password: whoever has only the browser cannot use up the tries.
  const code = (form.get("code") ?? "").trim();
  if (code === "" || code.length > codeLengthMax) return { sentence: "Type a code of your authenticator." };
  const parameters = { client_id: String(interaction.params["client_id"]), interaction: interaction.uid };
  const refused = await options.factors.show(ownerOf(interaction, options), parameters, code);
  if (refused === undefined) return undefined;
  return { sentence: refused.reason, retryAfterS: refused.retryAfterS };
}

const wrongPassword = "That password is not right. Check it and try again.";

function throttled(retryAfterS: number): ApprovalProblem {
  return { sentence: waitSentence(Math.ceil(retryAfterS)), retryAfterS };
}

/** Whether the password was typed on the way to this very approval. */
function isFresh({ lastSubmission, session }: Interaction): boolean {
  const login = (lastSubmission as InteractionResults | undefined)?.login;
  return login !== undefined && login.accountId === session?.accountId;
}

function nameOf({ session }: Interaction): string {
  return session?.accountId ?? "";
}

function ownerOf(interaction: Interaction, { issuer }: ApprovalOptions): FactorOwner {
  const name = nameOf(interaction);
  return { subject: subjectOf(issuer.href.replace(/\/$/, ""), name), actor: actorOf(name) };
}
