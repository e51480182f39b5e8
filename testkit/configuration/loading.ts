// What the configuration's tests share: loading a text as the file `p.yaml`.
import { type Complaint, complaintLine } from "../../adapters/configuration/complaint.ts";
import type { Environment } from "../../adapters/configuration/environment.ts";
import { type Loaded, loadConfiguration } from "../../adapters/configuration/load-configuration.ts";

export function load(text: string | undefined, environment: Environment = {}): Loaded {
  if (text === undefined) return loadConfiguration({ environment, readFile: () => "" });
  return loadConfiguration({ environment: { PORTCULLIS_CONFIG: "p.yaml", ...environment }, readFile: () => text });
}

export function valid(text: string | undefined, environment: Environment = {}) {
  const loaded = load(text, environment);
  if (!loaded.ok) throw new Error(loaded.complaints.map(complaintLine).join("\n"));
  return loaded;
}

export function complaints(text: string | undefined, environment: Environment = {}): readonly Complaint[] {
  const loaded = load(text, environment);
  return loaded.ok ? [] : loaded.complaints;
}

export const paths = (text: string | undefined, environment: Environment = {}) =>
  complaints(text, environment).map(({ path }) => path);
