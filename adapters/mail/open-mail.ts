// The configured mail: files in the data folder, or a mail server with the password from the secrets store.
import { join } from "node:path";
import type { Mail } from "../../ports/mail.ts";
import type { Secrets } from "../../ports/secrets.ts";
import type { Timers } from "../../ports/timers.ts";
import type { Configuration } from "../configuration/schema.ts";
import { fileMail } from "./file-mail.ts";
import { smtpMail } from "./smtp-mail.ts";

interface OpenMailOptions {
  readonly configuration: Pick<Configuration, "reports" | "secrets">;
  readonly dataFolder: string;
  readonly timers: Timers;
  readonly secrets: Pick<Secrets, "get">;
}

export function openMail({ configuration, dataFolder, timers, secrets }: OpenMailOptions): Mail {
  const { provider, host = "", port, tls, user, from, to } = configuration.reports.email;
  if (provider === "file") return fileMail({ folder: join(dataFolder, "mail"), from, to });
  const path = `secret/${configuration.secrets.prefix}/mail/password`;
  const password = async (): Promise<string | undefined> => (await secrets.get(path))?.value;
  return smtpMail({ timers, host, port, tls, user, from, to, password });
}
