// The reference for people: one page from the OpenAPI document of a listener, with a curl line per operation. It is HTML without any script, so that
// the strictest policy of a browser holds, and reads without a network.

interface Schema {
  readonly $ref?: string;
  readonly type?: string | readonly string[];
  readonly enum?: readonly unknown[];
  readonly description?: string;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly items?: Schema;
  readonly format?: string;
}

interface Content {
  readonly schema?: Schema;
  readonly example?: unknown;
}

interface Parameter {
  readonly in: string;
  readonly name: string;
  readonly required?: boolean;
  readonly description?: string;
  readonly schema?: Schema;
  readonly example?: unknown;
}

export interface ReferenceOperation {
  readonly operationId: string;
  readonly tags?: readonly string[];
  readonly summary?: string;
  readonly description?: string;
  readonly deprecated?: boolean;
  readonly security?: readonly object[];
  readonly parameters?: readonly Parameter[];
  readonly requestBody?: { readonly content: Readonly<Record<string, Content>> };
  readonly responses: Readonly<Record<string, { readonly content?: Readonly<Record<string, Content>> }>>;
  /** Of the other port. */
  readonly servers?: readonly object[];
}

export interface ReferenceDocument {
  readonly info: { readonly title: string; readonly version: string };
  readonly tags: readonly { readonly name: string; readonly description: string }[];
  readonly paths: Readonly<Record<string, Readonly<Record<string, ReferenceOperation>>>>;
  readonly components: { readonly schemas: Readonly<Record<string, Schema>> };
}

interface Placed {
  readonly method: string;
  readonly path: string;
  readonly operation: ReferenceOperation;
}

/** What nobody comes for. */
const lastChapters: readonly string[] = ["health", "metrics", "descriptions"];

/** A chapter at a time: all of them are tens of milliseconds. */
export function* referencePage(document: ReferenceDocument, baseUrl: string): Generator<void, string> {
  const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods)
      .filter(([, operation]) => operation.servers === undefined)
      .map(([method, operation]): Placed => ({ method: method.toUpperCase(), path, operation })),
  );
  const isLast = ({ name }: { readonly name: string }): boolean => lastChapters.includes(name);
  const tags = [...document.tags.filter((tag) => !isLast(tag)), ...document.tags.filter(isLast)];
  const chapters = tags.map((tag) => {
    const placed = operations.filter(({ operation }) => operation.tags?.includes(tag.name));
    return { ...tag, anchor: `chapter-${tag.name.replaceAll(" ", "-")}`, placed };
  });
  const links = chapters.map(
    ({ name, anchor, placed }) => `<li><a href="#${anchor}">${text(name)}</a> <span>${placed.length}</span></li>`,
  );
  const bodies: string[] = [];
  for (const { name, anchor, description, placed } of chapters) {
    yield;
    const sections = placed.map((one) => operationSection(one, document, baseUrl)).join("");
    bodies.push(
      `<section class="chapter" id="${anchor}"><h2>${text(name)}</h2><p>${text(description)}</p>${contents(placed)}${sections}</section>`,
    );
  }
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${text(document.info.title)}</title>
<link rel="stylesheet" href="/docs/style.css">
</head>
<body>
<nav aria-label="Chapters"><p class="title">${text(document.info.title)} <span>${text(document.info.version)}</span></p><ul>${links.join("")}</ul></nav>
<main>
<h1>${text(document.info.title)}</h1>
${introduction(
  operations.some(({ operation }) => needsToken(operation)),
  baseUrl,
)}
${bodies.join("\n")}
</main>
</body>
</html>
`;
}

function introduction(isGuarded: boolean, baseUrl: string): string {
  const token = isGuarded
    ? "<p>Calls carry <code>authorization: Bearer $TOKEN</code>: the access token of a login, or a service token that an administrator issued. The lines below take it from the variable <code>TOKEN</code>.</p><p>Every POST that changes something takes the header <code>Idempotency-Key</code>: a name that you make up for one request. Sent again within 24 hours, it is not done again and gets the first answer, with <code>Idempotent-Replay: true</code>. A halt never waits for its key.</p>"
    : "<p>Nobody needs a token here. The requests of one source address are limited: <code>RateLimit</code> says how many are left, and a 429 says in <code>Retry-After</code> when to come back.</p>" +
      `<p>What changes comes by itself over the WebSocket <code>${text(baseUrl.replace(/^http/, "ws"))}/v1/stream</code>: quotes, closed bars, funds and halts; AsyncAPI describes its messages.</p>`;
  return `${token}
<p>JSON is snake_case; amounts, prices and quantities are decimals as text; times are RFC 3339 in UTC. What goes wrong is a problem document (RFC 9457) with a stable <code>code</code>. Lists are arrays; the next page is in the <code>Link</code> header. Answers may get more members within v1: ignore those that you do not know.</p>
<p>For programs: <a href="/v1/openapi.json">/v1/openapi.json</a> (OpenAPI 3.1) and <a href="/v1/asyncapi.json">/v1/asyncapi.json</a> (AsyncAPI 3.0: streams and events).</p>`;
}

function operationSection({ method, path, operation }: Placed, document: ReferenceDocument, baseUrl: string): string {
  const { operationId, summary = "", description = "", deprecated } = operation;
  const badge = deprecated ? ' <span class="deprecated">deprecated</span>' : "";
  // The summary stands above; what is left of the description says who may.
  const who = description
    .replace(/^\w+: /, "")
    .replace(summary, "")
    .trim();
  return `<article id="${operationId}">
<h3><span class="method ${method.toLowerCase()}">${method}</span> <code>${text(path)}</code>${badge}</h3>
<p>${text(summary)} <span class="who">${text(who)}</span></p>
${parametersTable(operation)}${bodyTable(operation, document)}<pre class="curl"><code>${text(curlLine({ method, path, operation }, baseUrl))}</code></pre>
${answerExample(operation)}</article>
`;
}

/** Every operation of a chapter in one line, for whoever looks for one. */
function contents(placed: readonly Placed[]): string {
  if (placed.length < 3) return "";
  const lines = placed.map(({ method, path, operation: { operationId, summary = "" } }) => {
    const name = `<span class="method ${method.toLowerCase()}">${method}</span> <code>${text(path)}</code>`;
    return `<li><a href="#${operationId}">${name}</a> <span class="who">${text(summary)}</span></li>`;
  });
  return `<ul class="contents">${lines.join("")}</ul>`;
}

function parametersTable({ parameters = [] }: ReferenceOperation): string {
  // What they all take stands in the introduction.
  const own = parameters.filter(({ name }) => name !== "Idempotency-Key");
  const rows = own.map((one) => row(one.name, one.schema, one.required === true, one.in, one.description));
  return rows.length === 0 ? "" : table("Parameters", rows);
}

function bodyTable({ requestBody }: ReferenceOperation, document: ReferenceDocument): string {
  const schema = opened(requestBody?.content["application/json"]?.schema, document);
  const rows = Object.entries(schema?.properties ?? {}).map(([name, member]) =>
    row(name, member, schema?.required?.includes(name) === true, "body", undefined),
  );
  return rows.length === 0 ? "" : table("Body", rows);
}

function table(caption: string, rows: readonly string[]): string {
  return `<table><caption>${caption}</caption><tbody>${rows.join("")}</tbody></table>\n`;
}

function row(
  name: string,
  schema: Schema | undefined,
  required: boolean,
  place: string,
  said: string | undefined,
): string {
  const what = said ?? schema?.description ?? "";
  const marks = [place === "body" ? "" : place, typeOf(schema), required ? "required" : ""].filter(
    (mark) => mark !== "",
  );
  return `<tr><th scope="row"><code>${text(name)}</code></th><td>${marks.map(text).join(", ")}</td><td>${text(what)}</td></tr>`;
}

function typeOf(schema: Schema | undefined): string {
  if (schema?.enum !== undefined) {
    const shown = schema.enum.slice(0, 8).map(String).join(" | ");
    return schema.enum.length > 8 ? `${shown} | …` : shown;
  }
  if (schema?.$ref !== undefined) return schema.$ref.split("/").at(-1) ?? "";
  if (schema?.type === "array") return `list of ${typeOf(schema.items)}`;
  return schema?.format ?? (Array.isArray(schema?.type) ? schema.type.join(" or ") : String(schema?.type ?? "any"));
}

function opened(schema: Schema | undefined, { components }: ReferenceDocument): Schema | undefined {
  const name = schema?.$ref?.split("/").at(-1);
  return name === undefined ? schema : components.schemas[name];
}

function answerExample({ responses }: ReferenceOperation): string {
  const [status, answer] = Object.entries(responses).find(([code]) => code.startsWith("2")) ?? [];
  const [type, content] = Object.entries(answer?.content ?? {})[0] ?? [];
  if (status === undefined || type === undefined || content?.example === undefined) return "";
  const shown = typeof content.example === "string" ? content.example : JSON.stringify(content.example, null, 2);
  return `<details><summary>${status} ${text(type)}</summary><pre><code>${text(shown)}</code></pre></details>\n`;
}

function needsToken({ security = [] }: ReferenceOperation): boolean {
  return security.length > 0;
}

/** A line for a shell: the example of the operation, sent to this server. */
export function curlLine({ method, path, operation }: Placed, baseUrl: string): string {
  const { parameters = [], requestBody, responses } = operation;
  const example = (one: Parameter): string => encodeURIComponent(String(one.example));
  const filled = parameters
    .filter((one) => one.in === "path")
    .reduce((left, one) => left.replace(`{${one.name}}`, example(one)), path);
  const query = parameters
    .filter((one) => one.in === "query" && one.example !== undefined)
    .map((one) => `${one.name}=${example(one)}`)
    .join("&");
  const body = requestBody?.content["application/json"]?.example;
  const isStream = Object.values(responses).some(({ content = {} }) => content["text/event-stream"] !== undefined);
  return [
    "curl -sS",
    // A stream has no end of its own.
    ...(isStream ? ["-N --max-time 2"] : []),
    ...(method === "GET" ? [] : [`-X ${method}`]),
    ...(needsToken(operation) ? ['-H "authorization: Bearer $TOKEN"'] : []),
    ...(body === undefined ? [] : ["-H 'content-type: application/json'", `-d ${quoted(JSON.stringify(body))}`]),
    quoted(`${baseUrl}${filled}${query === "" ? "" : `?${query}`}`),
  ].join(" ");
}

function quoted(word: string): string {
  return `'${word.replaceAll("'", "'\\''")}'`;
}

function text(value: string): string {
  return value.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;").replaceAll('"', "&quot;");
}
