// Reports in a bucket of an S3-compatible service, addressed by path. What is there already is asked for first: a bucket that keeps versions has one, and
// nobody's file is written over. The content's hash travels as metadata, because an ETag is no hash everywhere.
import { createHash } from "node:crypto";
import { AwsClient } from "aws4fetch";
import type { ReportStorage } from "../../ports/report-storage.ts";
import type { Timers } from "../../ports/timers.ts";
import { mustBeKey, storageConflict, storageUnavailable } from "./storage-key.ts";

export interface S3StorageOptions {
  readonly timers: Timers;
  /** https://s3.eu-central-1.amazonaws.com, or one's own. */
  readonly endpoint: string;
  readonly region: string;
  readonly bucket: string;
  /** Before every key, without a slash at its end; may be empty. */
  readonly prefix: string;
  readonly accessKeyId: string;
  /** Asked for each time, so that a new one needs no restart. */
  secretAccessKey(): Promise<string | undefined>;
}

const hashHeader = "x-amz-meta-sha256";

export function s3Storage(options: S3StorageOptions): ReportStorage {
  const { endpoint, region, bucket, prefix, timers } = options;
  const closing = new AbortController();

  return {
    name: "s3",
    async put({ key, contentType, content }, deadlineMs) {
      mustBeKey(key);
      const name = prefix === "" ? key : `${prefix}/${key}`;
      const url = `${endpoint.replace(/\/$/, "")}/${encodeURIComponent(bucket)}/${name}`;
      const sha256 = createHash("sha256").update(content).digest("hex");
      const late = new AbortController();
      const cancel = timers.after(deadlineMs, () => late.abort());
      const signal = AbortSignal.any([late.signal, closing.signal]);
      try {
        const aws = await clientOf(options);
        const found = await answered(aws.fetch(url, { method: "HEAD", signal, redirect: "manual" }), signal);
        if (found.status === 200) {
          if (found.headers.get(hashHeader) === sha256) return `s3://${bucket}/${name}`;
          throw storageConflict(name);
        }
        if (found.status !== 404) throw storageUnavailable(`it answered a question with status ${found.status}`);
        const headers = { "content-type": contentType, [hashHeader]: sha256, "x-amz-content-sha256": sha256 };
        const body = Buffer.from(content);
        const put = await answered(
          aws.fetch(url, { method: "PUT", headers, body, signal, redirect: "manual" }),
          signal,
        );
        if (put.status !== 200) throw storageUnavailable(`it answered with status ${put.status}`);
        return `s3://${bucket}/${name}`;
      } finally {
        cancel();
      }
    },
    close: async () => closing.abort(),
  };

  async function clientOf({ accessKeyId, secretAccessKey }: S3StorageOptions): Promise<AwsClient> {
    const secret = await secretAccessKey();
    if (secret === undefined) throw storageUnavailable("there is no secret key for it among the secrets");
    // Whoever asked tries again by himself.
    return new AwsClient({ accessKeyId, secretAccessKey: secret, service: "s3", region, retries: 0 });
  }
}

/** What fetch says may repeat the request, so none of it goes further. */
async function answered(asked: Promise<Response>, signal: AbortSignal): Promise<Response> {
  try {
    const response = await asked;
    await response.body?.cancel();
    return response;
  } catch (thrown) {
    if (!(thrown instanceof Error)) throw thrown;
    throw storageUnavailable(signal.aborted ? "it did not answer in time" : "it cannot be reached");
  }
}
