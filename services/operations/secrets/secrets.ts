// Secrets, for the people who look after them: which there are and in which version, and a way to write those that come from outside.
//
//  1. A value goes in and never comes out: no answer, event, log line or sentence has one, nor anything computed from one.
//  2. Only what outside services gave us is written here. Keys that the platform made for itself, and the configuration of watchdogs, have their own
//     commands with their own checks; a word from here would get around them.
//  3. A write needs a reason and a proof of the second factor for this path, and leaves a record before anything is written; a refusal leaves one too.
//  4. A path that is refused is not repeated: somebody may have passed the value in its place.
import type { Denial } from "../../../contracts/src/codes.ts";
import { Fault } from "../../../contracts/src/fault.ts";
import type {
  KeptSecret,
  KeptSecrets,
  ListSecretsRequest,
  PutSecretRequest,
} from "../../../contracts/src/generated/svc/v1/secrets.ts";
import { format } from "../../../contracts/src/instant.ts";
import { isWritableSecret, secretFolders } from "../../../contracts/src/secret-folders.ts";
import { subjects } from "../../../contracts/src/subjects.ts";
import type { NamedAction } from "../../../ports/identity.ts";
import type { DeniedAnswer, RpcCall, RpcService } from "../../../ports/rpc.ts";
import type { ServicePorts } from "../../shared/service.ts";
import { givenReason, missingReason } from "../worker-verbs.ts";

interface SecretQueriesPorts extends Pick<ServicePorts, "secrets" | "store" | "clock" | "stepUps"> {
  /** The folder of everything of ours: `secret/<prefix>`. */
  readonly folder: string;
}

const action = "PutSecret";
const countDefault = 100;
/** One more than a page of HTTP, which tells whether there is another. */
const countLimit = 501;
/** A store that is asked for each version must not be asked for all of them at once. */
const askedAtOnce = 8;

export function secretQueries(ports: SecretQueriesPorts): RpcService {
  return {
    name: "Secrets",
    handlers: {
      ListSecrets: (request: ListSecretsRequest) => listSecrets(ports, request),
      [action]: (request: PutSecretRequest, call: RpcCall) => putSecret(ports, request, call),
    },
  };
}

async function listSecrets(
  { secrets, folder }: SecretQueriesPorts,
  { count_max: count, after_path: after = "" }: ListSecretsRequest,
): Promise<KeptSecrets> {
  if (count > countLimit) {
    throw new Fault("INVALID_ARGUMENT", `count_max is ${count}: ask for at most ${countLimit}.`, { retry: "never" });
  }
  const paths = (await secrets.list(folder))
    .map((path) => path.slice(folder.length + 1))
    .filter((path) => path > after)
    .sort((one, other) => (one < other ? -1 : 1))
    .slice(0, count === 0 ? countDefault : count);
  const kept: KeptSecret[] = [];
  for (let first = 0; first < paths.length; first += askedAtOnce) {
    const some = paths.slice(first, first + askedAtOnce);
    const found = await Promise.all(some.map((path) => secrets.get(`${folder}/${path}`)));
    kept.push(
      ...some.map((path, at) => ({ path, version: found[at]?.version ?? 0, writable: isWritableSecret(path) })),
    );
  }
  return { secrets: kept };
}

async function putSecret(
  ports: SecretQueriesPorts,
  { path, value, reason: given, step_up_proof: proof }: PutSecretRequest,
  { identity }: RpcCall,
): Promise<KeptSecret | DeniedAnswer> {
  const reason = givenReason(given);
  const named: NamedAction = { action, parameters: { path } };
  const denial: Denial | undefined = !isWritableSecret(path)
    ? notWritable
    : reason === ""
      ? missingReason("A secret is not replaced")
      : await ports.stepUps.redeem(identity, named, proof === "" ? undefined : proof);
  await ports.store.transact("secret.put", (unit) =>
    unit.events.publish(subjects.operatorAttempted, {
      operator: identity.actor,
      verb: action,
      target: denial === notWritable ? "secrets" : `secrets:${path}`,
      allowed: denial === undefined,
      ...(denial === undefined ? {} : { code: denial.code }),
      reason: denial?.reason ?? reason,
      at: format(ports.clock.now()),
    }),
  );
  if (denial !== undefined) return { denial, isReported: true };
  const { version } = await ports.secrets.put(`${ports.folder}/${path}`, value, { actor: identity.actor });
  return { path, version, writable: true };
}

const notWritable: Denial = {
  code: "SECRET_NOT_WRITABLE",
  reason: `Only a secret under ${secretFolders.slice(0, -1).join(", ")} or ${secretFolders.at(-1)} is written here, by a path such as chat/token.`,
};
