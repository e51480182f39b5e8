// Opens the secrets store that the configuration names: an encrypted file in the data folder, or Vault.
import { join } from "node:path";
import { Fault } from "../../contracts/src/fault.ts";
import type { Clock } from "../../ports/clock.ts";
import type { Log } from "../../ports/log.ts";
import type { Random } from "../../ports/random.ts";
import type { Secrets } from "../../ports/secrets.ts";
import type { Timers } from "../../ports/timers.ts";
import type { Configuration } from "../configuration/schema.ts";
import { openFileSecrets } from "../secrets-file/file-secrets.ts";
import type { VaultLogin } from "../vault/vault-session.ts";

interface SecretsOptions {
  readonly clock: Clock;
  readonly timers: Timers;
  readonly random: Random;
  readonly log: Log;
  readonly configuration: Configuration;
  readonly dataFolder: string;
}

export async function openSecrets(options: SecretsOptions): Promise<Secrets> {
  const { secrets } = options.configuration;
  if (secrets.backend === "vault") return openVault(options);
  const { passphrase, prefix } = secrets;
  return openFileSecrets({
    ...options,
    prefix,
    file: secrets.file ?? join(options.dataFolder, "secrets"),
    key:
      passphrase === undefined
        ? { kind: "key file", path: secrets.key_file ?? join(options.dataFolder, "secrets.key") }
        : { kind: "passphrase", passphrase },
  });
}

async function openVault(options: SecretsOptions): Promise<Secrets> {
  const { prefix, vault } = options.configuration.secrets;
  if (vault.addr === undefined) throw incomplete("PORTCULLIS_VAULT_ADDR is missing");
  const { openVaultSecrets } = await import("../vault/vault-secrets.ts");
  return openVaultSecrets({
    ...options,
    prefix,
    address: vault.addr,
    login: loginOf(vault),
    ...(vault.namespace === undefined ? {} : { namespace: vault.namespace }),
  });
}

function loginOf(vault: Configuration["secrets"]["vault"]): VaultLogin {
  if (vault.token !== undefined) return { kind: "token", token: vault.token };
  if (vault.role_id !== undefined && vault.secret_id !== undefined) {
    return { kind: "approle", roleId: vault.role_id, secretId: vault.secret_id };
  }
  throw incomplete("give PORTCULLIS_VAULT_TOKEN, or PORTCULLIS_VAULT_ROLE_ID and PORTCULLIS_VAULT_SECRET_ID");
}

function incomplete(what: string): Fault {
  return new Fault("CONFIGURATION_INVALID", `The secrets backend is vault: ${what}.`, { retry: "never" });
}
