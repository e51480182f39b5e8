// One example per operation: a request that works, and an answer to it. Each is held against the route's own schemas; one that they refuse is a mistake
// of ours, because whoever copies it would be refused as well.

import { detailOf, fieldErrors } from "../../../adapters/http/field-errors.ts";
import { Defect } from "../../../contracts/src/fault.ts";
import type { Schema } from "../../../contracts/src/schema.ts";
import type { Route } from "../../../ports/http.ts";
import { exampleOf } from "../../../testkit/json-schema/examples.ts";
import type { JsonSchema, Schemas } from "../../../testkit/json-schema/json-schema.ts";

interface Parameter {
  readonly in: string;
  readonly name: string;
  readonly required?: boolean;
  readonly schema: JsonSchema;
}

interface Content {
  readonly schema: JsonSchema;
}

type Contents = Readonly<Record<string, Content>>;

export interface DescribedOperation {
  readonly operationId?: string;
  readonly summary?: string;
  readonly description?: string;
  readonly parameters?: readonly Parameter[];
  readonly requestBody?: { readonly required?: boolean; readonly content: Contents };
  readonly responses?: Readonly<Record<string, { readonly description: string; readonly content?: Contents }>>;
}

export function withExamples(operation: DescribedOperation, route: Route, schemas: Schemas): DescribedOperation {
  const { parameters, requestBody, responses } = operation;
  return {
    ...operation,
    ...(parameters === undefined ? {} : { parameters: parametersWithExamples(parameters, route, schemas) }),
    ...(requestBody === undefined ? {} : { requestBody: bodyWithExample(requestBody, route, schemas) }),
    ...(responses === undefined ? {} : { responses: answersWithExamples(responses, route, schemas) }),
  };
}

function parametersWithExamples(
  parameters: readonly Parameter[],
  route: Route,
  schemas: Schemas,
): readonly Parameter[] {
  const made = parameters.map((parameter) => {
    const given = route.example?.[parameter.in === "path" ? "params" : "query"]?.[parameter.name];
    const isShown = given !== undefined || parameter.required === true;
    const example = given ?? exampleOf(parameter.schema, { schemas, optional: false }, parameter.name);
    return isShown ? { ...parameter, example } : parameter;
  });
  const valuesIn = (place: string): object =>
    Object.fromEntries(
      made.flatMap((one) => (one.in === place && "example" in one ? [[one.name, String(one.example)]] : [])),
    );
  hold(route, "path", route.params, valuesIn("path"));
  hold(route, "query", route.query, valuesIn("query"));
  return made;
}

function bodyWithExample(
  body: NonNullable<DescribedOperation["requestBody"]>,
  route: Route,
  schemas: Schemas,
): NonNullable<DescribedOperation["requestBody"]> {
  const content = mapContents(body.content, ({ schema }) => {
    const example = route.example?.body ?? exampleOf(schema, { schemas, optional: false });
    hold(route, "body", route.body, example);
    return example;
  });
  return { ...body, content };
}

function answersWithExamples(
  responses: NonNullable<DescribedOperation["responses"]>,
  route: Route,
  schemas: Schemas,
): NonNullable<DescribedOperation["responses"]> {
  const entries = Object.entries(responses).map(([status, response]) => {
    const { content } = response;
    const promised = route.answers[Number(status)];
    if (content === undefined || promised === undefined || promised === "bytes") return [status, response];
    const described = mapContents(content, ({ schema }, type) => {
      if (type === "application/x-ndjson") return "{}\n";
      if (typeof promised === "string") return route.example?.answer ?? "text";
      const example = exampleOf(schema, { schemas, optional: true });
      hold(route, `answer ${status}`, promised, example);
      return example;
    });
    return [status, { ...response, content: described }];
  });
  return Object.fromEntries(entries) as NonNullable<DescribedOperation["responses"]>;
}

function mapContents(contents: Contents, exampleFor: (content: Content, type: string) => unknown): Contents {
  const entries = Object.entries(contents).map(([type, content]) => [
    type,
    { ...content, example: exampleFor(content, type) },
  ]);
  return Object.fromEntries(entries) as Contents;
}

function hold(route: Route, place: string, schema: Schema | undefined, example: unknown): void {
  const result = schema?.safeParse(example);
  if (result === undefined || result.success) return;
  const why = detailOf(fieldErrors(place, result.error.issues, example));
  throw new Defect(`The example of ${route.id} is not one that its schemas accept: ${why}. ${JSON.stringify(example)}`);
}
