// What no fix touches, whoever asked for it: what decides who may change what, what runs by itself, and what a reader of a change cannot see.

/** By the whole path or one of its folders, in lower case. */
const folders: ReadonlySet<string> = new Set([
  ".github",
  ".gitlab",
  ".circleci",
  ".git",
  ".husky",
  ".githooks",
  ".devcontainer",
  ".vscode",
  ".cargo",
  "node_modules",
]);

const names: ReadonlySet<string> = new Set([
  "codeowners",
  ".gitmodules",
  ".gitattributes",
  ".npmrc",
  ".yarnrc",
  ".yarnrc.yml",
  ".pypirc",
  ".netrc",
  ".pre-commit-config.yaml",
  ".gitlab-ci.yml",
  ".travis.yml",
  "azure-pipelines.yml",
  "jenkinsfile",
  "package-lock.json",
  "npm-shrinkwrap.json",
  "yarn.lock",
  "pnpm-lock.yaml",
  "bun.lock",
  "bun.lockb",
  "cargo.lock",
  "poetry.lock",
  "pipfile.lock",
  "uv.lock",
  "go.sum",
  "composer.lock",
  "gemfile.lock",
  "flake.lock",
]);

/** Why a path may not be changed; undefined where it may. */
export function whyProtected(path: string): string | undefined {
  const parts = path.normalize("NFKC").toLowerCase().split("/");
  if (parts.some((part) => part === "" || part === "." || part === "..")) return `${path} is no plain path`;
  // Some file systems drop trailing dots and spaces, and take git~1 for .git.
  if (parts.some((part) => /[. ]$|~\d/.test(part))) return `${path} is no plain path`;
  if (parts.some((part) => folders.has(part))) return `${path} lies in a protected folder`;
  const name = parts.at(-1) ?? "";
  if (names.has(name) || name.endsWith(".lock")) return `${path} is a protected file`;
  if (/^\.env(\.|$)/.test(name) || /\.(pem|key|p12|pfx)$/.test(name)) return `${path} is where secrets are kept`;
  return undefined;
}
