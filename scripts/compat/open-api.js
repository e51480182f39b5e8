// Breaks between two OpenAPI documents: routes, parameters, bodies, answers, who may call.
import { schemaBreaks } from "./schemas.js";

const methods = ["get", "post", "put", "delete"];

export function openApiBreaks(before, after) {
  return Object.entries(before.paths).flatMap(([path, item]) =>
    methods
      .filter((method) => item[method] !== undefined)
      .flatMap((method) => {
        const place = `${method.toUpperCase()} ${path}`;
        const found = after.paths[path]?.[method];
        if (found === undefined) return [`${place}: the route is gone`];
        return operationBreaks(place, item[method], found, { before, after });
      }),
  );
}

function operationBreaks(place, was, is, documents) {
  const renamed =
    was.operationId === is.operationId
      ? []
      : [`${place}: its name changed from ${was.operationId} to ${is.operationId}`];
  return [
    ...renamed,
    ...callerBreaks(place, was, is),
    ...parameterBreaks(place, was, is, documents),
    ...bodyBreaks(place, was, is, documents),
    ...answerBreaks(place, was, is, documents),
  ];
}

function callerBreaks(place, was, is) {
  if ((was.security ?? []).length === 0 && (is.security ?? []).length > 0) return [`${place}: a token is needed now`];
  const [before, after] = [was["x-allowed"], is["x-allowed"]];
  if (!Array.isArray(before) || !Array.isArray(after)) return [];
  return before.filter((role) => !after.includes(role)).map((role) => `${place}: the role ${role} may not any more`);
}

function parameterBreaks(place, was, is, documents) {
  const find = (operation, { in: where, name }) =>
    (operation.parameters ?? []).find((one) => one.in === where && one.name === name);
  const known = (was.parameters ?? []).flatMap((parameter) => {
    const at = `${place}: ${parameter.in} ${parameter.name}`;
    const found = find(is, parameter);
    // What asks with a header that nobody reads any more is still answered; an unknown name in a query is refused.
    if (found === undefined) return parameter.in === "header" ? [] : [`${at}: the parameter is gone`];
    const lines = schemaBreaks(at, parameter.schema, found.schema, { ...documents, direction: "request" });
    return !parameter.required && found.required ? [...lines, `${at}: the parameter is required now`] : lines;
  });
  const added = (is.parameters ?? []).filter((parameter) => parameter.required && find(was, parameter) === undefined);
  return [
    ...known,
    ...added.map(({ in: where, name }) => `${place}: ${where} ${name}: a required parameter was added`),
  ];
}

function bodyBreaks(place, was, is, documents) {
  const schemaOf = (operation) => operation.requestBody?.content?.["application/json"]?.schema;
  const [before, after] = [schemaOf(was), schemaOf(is)];
  if (before === undefined) return after === undefined ? [] : [`${place}: a body is needed now`];
  if (after === undefined) return [`${place}: a body is refused now`];
  return schemaBreaks(`${place}: body`, before, after, { ...documents, direction: "request" });
}

function answerBreaks(place, was, is, documents) {
  return Object.entries(was.responses)
    .filter(([status]) => /^2/.test(status))
    .flatMap(([status, answer]) => {
      const at = `${place}: answer ${status}`;
      const found = is.responses[status];
      if (found === undefined) return [`${at}: the status is gone`];
      const headers = Object.keys(answer.headers ?? {}).filter((name) => found.headers?.[name] === undefined);
      const contents = Object.entries(answer.content ?? {}).flatMap(([type, { schema }]) => {
        const content = found.content?.[type];
        if (content === undefined) return [`${at}: ${type} is not answered any more`];
        return schemaBreaks(at, schema, content.schema, { ...documents, direction: "answer" });
      });
      return [...headers.map((name) => `${at}: the header ${name} is gone`), ...contents];
    });
}
