import { html, raw } from "hono/html";
import {
  type Html,
  inWords,
  type OpenApiDocument,
  type Schema,
  schemaSection,
} from "./docs-schema";

/** A page and its content security policy. */
type DocsPage = { html: string; policy: string };

/**
 * The OpenAPI document as a page. It has no script and loads nothing. Its policy allows only the
 * inline style, by hash.
 */
export async function docsPage(document: OpenApiDocument): Promise<DocsPage> {
  const operations = operationsOf(document);
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
<header><h1>${document.info.title} API</h1><p>${ticked(document.info.description ?? "")}</p>
<p>For programs: <a href="/openapi.json">/openapi.json</a>. Send a key as <code>authorization: Bearer &hellip;</code>; a local service needs no key.</p></header>
<nav aria-label="Routes">${groups.map(contents)}<h4>Schemas</h4><ul><li>${schemas.map(([name]) => html`<a href="#schema-${name}">${name}</a> `)}</li></ul></nav>
<main>${groups.map(({ tag, operations: own }) => html`<h2>${tag}</h2>${own.map(section)}`)}
<h2>Schemas</h2>${schemas.map(([name, schema]) => schemaSection(name, schema))}</main>
</body></html>`;
  const style = `style-src '${await hashOf(DOCS_STYLE)}'`;
  const policy = `default-src 'none'; ${style}; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`;
  return { html: String(page), policy };
}

/** The hash source of inline text in a policy. */
async function hashOf(text: string): Promise<string> {
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

function operationsOf({ paths }: OpenApiDocument): ListedOperation[] {
  return Object.entries(paths ?? {}).flatMap(([path, item]) =>
    Object.entries({ GET: item.get, POST: item.post, PUT: item.put, DELETE: item.delete }).flatMap(
      ([method, operation]) =>
        operation ? [{ method, path, tag: operation.tags?.[0] ?? "", operation }] : [],
    ),
  );
}

const anchor = ({ operation }: ListedOperation): string => operation.operationId ?? "";

function contents({ tag, operations }: { tag: string; operations: ListedOperation[] }): Html {
  const items = operations.map(
    (listed) =>
      html`<li><a href="#${anchor(listed)}"><code><span class="method">${listed.method}</span>${listed.path}</code></a> <span class="dim">${ticked(listed.operation.summary ?? "")}</span></li>`,
  );
  return html`<h4>${tag}</h4><ul>${items}</ul>`;
}

function section(listed: ListedOperation): Html {
  const { method, path, operation } = listed;
  return html`<section aria-labelledby="${anchor(listed)}"><h3 id="${anchor(listed)}"><code>${method} ${path}</code></h3>
<p>${ticked(operation.summary ?? "")}. ${ticked(operation.description ?? "")}</p>
${parameters(operation)}${body(operation)}${responses(operation)}</section>`;
}

function parameters({ parameters: list = [] }: OperationDescription): Html | string {
  const rows = list.flatMap((parameter) => {
    if ("$ref" in parameter) return [];
    const { name, in: place, required, schema, description } = parameter;
    return [
      html`<tr><td><code>${name}</code></td><td>${place}${required ? "" : ", optional"}</td><td>${inWords(schema)}</td><td>${ticked(description ?? "")}</td></tr>`,
    ];
  });
  if (rows.length === 0) return "";
  return html`<h4>Parameters</h4><div class="wide"><table><tr><th>Name</th><th>In</th><th>Type</th><th>Meaning</th></tr>${rows}</table></div>`;
}

function body({ requestBody }: OperationDescription): Html | string {
  if (!requestBody || "$ref" in requestBody) return "";
  return html`<h4>Body</h4>${contentsOf(requestBody.content)}`;
}

type Media = Record<string, { schema?: Schema; example?: unknown }>;

function contentsOf(content: Media): Html[] {
  return Object.entries(content).map(([type, { schema, example }]) => {
    const shown = example === undefined ? "" : html`<pre tabindex="0">${asText(example)}</pre>`;
    return html`<p><code>${type}</code>: ${inWords(schema)}</p>${shown}`;
  });
}

const asText = (example: unknown): string =>
  typeof example === "string" ? example : JSON.stringify(example, null, 2);

/** Shows the contents of successful responses only. Errors all have the same schema. */
function responses({ responses: all }: OperationDescription): Html {
  const entries = Object.entries(all ?? {});
  const rows = entries.map(
    ([status, response]) => html`<tr><td>${status}</td><td>${ticked(textOf(response))}</td></tr>`,
  );
  const shown = entries.flatMap(([status, response]) => {
    const content = isResponse(response) && Number(status) < 400 ? response.content : undefined;
    return content ? [html`<h4>${status}</h4>${contentsOf(content)}`] : [];
  });
  return html`<h4>Responses</h4><div class="wide"><table><tr><th>Status</th><th>Meaning</th></tr>${rows}</table></div>${shown}`;
}

type DocumentedResponse = { description: string; content?: Media };

const isResponse = (response: unknown): response is DocumentedResponse =>
  typeof response === "object" && response !== null && "description" in response;

const textOf = (response: unknown): string => (isResponse(response) ? response.description : "");

/** Text with code between backticks. */
function ticked(text: string): Html {
  const parts = text
    .split("`")
    .map((part, nth) => (nth % 2 === 1 ? html`<code>${part}</code>` : part));
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
