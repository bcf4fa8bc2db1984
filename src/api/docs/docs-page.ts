import { html, raw } from "hono/html";
import {
  type Html,
  schemaText,
  type OpenApiDocument,
  type Schema,
  schemaSection,
} from "./docs-schema";

/** A page as HTML, and its content security policy. */
type DocsPage = { html: string; policy: string };

/**
 * Creates a page from the OpenAPI document. The page has no script and loads nothing. Its policy
 * allows only the inline style, by hash.
 */
export async function docsPage(document: OpenApiDocument): Promise<DocsPage> {
  const operations = listOperations(document);
  const tags = [...new Set(operations.map(({ tag }) => tag))];
  const groups = tags.map((tag) => ({
    tag,
    operations: operations.filter((operation) => operation.tag === tag),
  }));
  const schemas = Object.entries(document.components?.schemas ?? {});
  const page = await html`<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1"><title>${document.info.title} API</title><style>${raw(DOCS_STYLE)}</style></head>
<body>
<header><h1>${document.info.title} API</h1><p>${withCode(document.info.description ?? "")}</p>
<p>For programs: <a href="/openapi.json">/openapi.json</a>. Send a key as <code>authorization: Bearer &hellip;</code>; a local service needs no key.</p></header>
<nav aria-label="Routes">${groups.map(navigationGroup)}<h4>Schemas</h4><ul><li>${schemas.map(([name]) => html`<a href="#schema-${name}">${name}</a> `)}</li></ul></nav>
<main>${groups.map((group) => html`<h2>${group.tag}</h2>${group.operations.map(operationSection)}`)}
<h2>Schemas</h2>${schemas.map(([name, schema]) => schemaSection(name, schema))}</main>
</body></html>`;
  const style = `style-src '${await hashSourceOf(DOCS_STYLE)}'`;
  const policy = `default-src 'none'; ${style}; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`;
  return { html: String(page), policy };
}

/** The source expression by which a content security policy allows this inline text. */
async function hashSourceOf(text: string): Promise<string> {
  const digest = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(text));
  return `sha256-${btoa(String.fromCharCode(...new Uint8Array(digest)))}`;
}

type Paths = NonNullable<OpenApiDocument["paths"]>;
type OperationDescription = NonNullable<Paths[string]["get"]>;
type ListedOperation = {
  method: string;
  path: string;
  tag: string;
  operation: OperationDescription;
};

function listOperations({ paths }: OpenApiDocument): ListedOperation[] {
  return Object.entries(paths ?? {}).flatMap(([path, item]) =>
    Object.entries({ GET: item.get, POST: item.post, PUT: item.put, DELETE: item.delete }).flatMap(
      ([method, operation]) =>
        operation ? [{ method, path, tag: operation.tags?.[0] ?? "", operation }] : [],
    ),
  );
}

const anchorOf = ({ operation }: ListedOperation): string => operation.operationId ?? "";

function navigationGroup({
  tag,
  operations,
}: {
  tag: string;
  operations: ListedOperation[];
}): Html {
  const items = operations.map(
    (listed) =>
      html`<li><a href="#${anchorOf(listed)}"><code><span class="method">${listed.method}</span>${listed.path}</code></a> <span class="dim">${withCode(listed.operation.summary ?? "")}</span></li>`,
  );
  return html`<h4>${tag}</h4><ul>${items}</ul>`;
}

function operationSection(listed: ListedOperation): Html {
  const { method, path, operation } = listed;
  return html`<section aria-labelledby="${anchorOf(listed)}"><h3 id="${anchorOf(listed)}"><code>${method} ${path}</code></h3>
<p>${withCode(operation.summary ?? "")}. ${withCode(operation.description ?? "")}</p>
${parametersSection(operation)}${bodySection(operation)}${responsesSection(operation)}</section>`;
}

function parametersSection({ parameters: list = [] }: OperationDescription): Html | string {
  const rows = list.flatMap((parameter) => {
    if ("$ref" in parameter) return [];
    const { name, in: place, required, schema, description } = parameter;
    return [
      html`<tr><td><code>${name}</code></td><td>${place}${required ? "" : ", optional"}</td><td>${schemaText(schema)}</td><td>${withCode(description ?? "")}</td></tr>`,
    ];
  });
  if (rows.length === 0) return "";
  return html`<h4>Parameters</h4><div class="wide"><table><tr><th>Name</th><th>In</th><th>Type</th><th>Meaning</th></tr>${rows}</table></div>`;
}

function bodySection({ requestBody }: OperationDescription): Html | string {
  if (!requestBody || "$ref" in requestBody) return "";
  return html`<h4>Body</h4>${mediaSections(requestBody.content)}`;
}

type Media = Record<string, { schema?: Schema; example?: unknown }>;

function mediaSections(content: Media): Html[] {
  return Object.entries(content).map(([type, { schema, example }]) => {
    const exampleBlock =
      example === undefined ? "" : html`<pre tabindex="0">${exampleText(example)}</pre>`;
    return html`<p><code>${type}</code>: ${schemaText(schema)}</p>${exampleBlock}`;
  });
}

const exampleText = (example: unknown): string =>
  typeof example === "string" ? example : JSON.stringify(example, null, 2);

/** Shows the contents of successful responses only, because all errors have the same schema. */
function responsesSection({ responses = {} }: OperationDescription): Html {
  const entries = Object.entries(responses);
  const rows = entries.map(
    ([status, response]) =>
      html`<tr><td>${status}</td><td>${withCode(descriptionOf(response))}</td></tr>`,
  );
  const contents = entries.flatMap(([status, response]) => {
    const content = isResponse(response) && Number(status) < 400 ? response.content : undefined;
    return content ? [html`<h4>${status}</h4>${mediaSections(content)}`] : [];
  });
  return html`<h4>Responses</h4><div class="wide"><table><tr><th>Status</th><th>Meaning</th></tr>${rows}</table></div>${contents}`;
}

type DocumentedResponse = { description: string; content?: Media };

const isResponse = (response: unknown): response is DocumentedResponse =>
  typeof response === "object" && response !== null && "description" in response;

const descriptionOf = (response: unknown): string =>
  isResponse(response) ? response.description : "";

/** The text as HTML. Text between backticks becomes code. */
function withCode(text: string): Html {
  const parts = text
    .split("`")
    .map((part, index) => (index % 2 === 1 ? html`<code>${part}</code>` : part));
  return html`${parts}`;
}

/** The style of the documentation page. The policy contains its hash, so no other style applies. */
const DOCS_STYLE = `
:root { color-scheme: light dark; --line: light-dark(#d8dade, #3a3d44); --soft: light-dark(#f5f6f8, #1d1f23); --text: light-dark(#1b1d21, #e6e7ea); --dim: light-dark(#5b606b, #a0a5b0); --link: light-dark(#0b57b7, #8ab4ff); }
* { box-sizing: border-box; }
body { margin: 0 auto; padding: 2rem 1.25rem 6rem; max-width: 62rem; color: var(--text); background: light-dark(#fff, #141518); font: 16px/1.55 system-ui, sans-serif; }
h1, h2, h3 { line-height: 1.25; }
h2 { margin: 3rem 0 .5rem; padding-top: .5rem; border-top: 1px solid var(--line); }
h3 { margin: 2.25rem 0 .25rem; font-size: 1.05rem; overflow-wrap: anywhere; }
h4 { margin: 1rem 0 .25rem; font-size: .85rem; color: var(--dim); }
a { color: var(--link); text-underline-offset: .15em; }
a:focus-visible, pre:focus-visible { outline: 2px solid var(--link); outline-offset: 2px; }
code, pre { font: .875em/1.5 ui-monospace, monospace; }
pre { margin: .25rem 0; padding: .75rem 1rem; overflow-x: auto; background: var(--soft); border: 1px solid var(--line); border-radius: 6px; max-height: 26rem; }
table { width: 100%; border-collapse: collapse; }
th, td { padding: .35rem .75rem .35rem 0; text-align: left; vertical-align: top; border-bottom: 1px solid var(--line); overflow-wrap: anywhere; }
th { font-size: .85rem; color: var(--dim); font-weight: 600; }
td:first-child { white-space: nowrap; }
.method { display: inline-block; min-width: 4.5em; }
.dim { color: var(--dim); }
.wide { overflow-x: auto; }
nav ul { padding: 0; list-style: none; }
nav li { padding: .15rem 0; }
@media (max-width: 40rem) { td:first-child { white-space: normal; } }
`;
