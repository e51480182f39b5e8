// The configured storage for reports: a folder, or a bucket with the secret key from the secrets store.
import { join } from "node:path";
import type { ReportStorage } from "../../ports/report-storage.ts";
import type { Secrets } from "../../ports/secrets.ts";
import type { Timers } from "../../ports/timers.ts";
import type { Configuration } from "../configuration/schema.ts";
import { folderStorage } from "./folder-storage.ts";
import { s3Storage } from "./s3-storage.ts";

interface OpenReportStorageOptions {
  readonly configuration: Pick<Configuration, "reports" | "secrets">;
  readonly dataFolder: string;
  readonly timers: Timers;
  readonly secrets: Pick<Secrets, "get">;
}

export function openReportStorage(options: OpenReportStorageOptions): ReportStorage {
  const { configuration, dataFolder, timers, secrets } = options;
  const { provider, folder, endpoint = "", region, bucket = "", prefix, access_key_id } = configuration.reports.storage;
  if (provider === "folder") return folderStorage({ folder: folder ?? join(dataFolder, "reports") });
  const path = `secret/${configuration.secrets.prefix}/storage/secret-access-key`;
  const secretAccessKey = async (): Promise<string | undefined> => (await secrets.get(path))?.value;
  return s3Storage({ timers, endpoint, region, bucket, prefix, accessKeyId: access_key_id ?? "", secretAccessKey });
}
