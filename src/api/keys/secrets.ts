import * as z from "zod";
import { toolAddressRules } from "../../config/context";
import { bindingProblem } from "../../config/tool-secrets";
import type { AddressRules } from "../../outgoing/address-rules";
import {
  isSecretName,
  SECRET_LIMITS,
  SECRETS_PATH,
  type Secret,
  type SecretBinding,
  SecretListSchema,
  SecretRequestSchema,
  SecretSchema,
} from "../../protocol/api/secrets";
import { redactShapes } from "../../redaction/redact";
import type { App, Call } from "../api-env";
import { ApiError } from "../errors";
import { json, type Operation } from "../operation";
import { readBody } from "../bodies/read-body";
import { route } from "../routes";

const EXAMPLE: Secret = {
  name: "GITHUB_TOKEN",
  bindings: [{ origin: "https://api.github.com", paths: ["/repos/acme"], methods: ["GET"] }],
  created_at: 1_795_000_000,
  updated_at: 1_795_000_060,
};
const NAME_PARAM = z.object({
  name: z.string().describe("Name of the secret. Configs refer to it as `${NAME}`"),
});

const LIST_OPERATION: Operation = {
  id: "listSecrets",
  tag: "Secrets",
  summary: "Secrets of the tenant for tools, sorted by name, without their values",
  description: `Returns all secrets; a tenant can have ${SECRET_LIMITS.secrets}. Secrets of the operator are not included.`,
  responses: {
    200: json("The secrets", SecretListSchema, {
      object: "list",
      data: [EXAMPLE],
      first_id: EXAMPLE.name,
      last_id: EXAMPLE.name,
      has_more: false,
    }),
  },
  handle: listSecrets,
};

const PUT_OPERATION: Operation = {
  id: "putSecret",
  tag: "Secrets",
  summary: "Set a secret for tools and tool servers",
  description:
    "Configs refer to it as `${NAME}` in headers of tools and tool servers and in `auth`. It is stored encrypted, and no response contains it. It is sent only to its bindings: an origin, optionally limited to paths (with all paths below them) and methods. It takes precedence over a secret of the operator with the same name. Value and bindings are set together. Running sessions use the new values from their next request.",
  request: {
    params: NAME_PARAM,
    body: {
      "application/json": {
        schema: SecretRequestSchema,
        example: { value: "the token itself", bindings: EXAMPLE.bindings },
      },
    },
  },
  responses: {
    200: json("The secret was replaced", SecretSchema, EXAMPLE),
    201: json("The secret was created", SecretSchema, {
      ...EXAMPLE,
      updated_at: EXAMPLE.created_at,
    }),
  },
  codes: [
    ...([
      "bad_id",
      "bad_json",
      "body_too_large",
      "unsupported_media_type",
      "request_invalid",
    ] as const),
    ...(["too_many_secrets", "secret_not_kept"] as const),
  ],
  handle: putSecret,
};

const DELETE_OPERATION: Operation = {
  id: "deleteSecret",
  tag: "Secrets",
  summary: "Delete a secret",
  description: "Requests of running sessions that need the secret are no longer sent.",
  request: { params: NAME_PARAM },
  responses: { 204: { description: "Deleted" } },
  codes: ["bad_id", "secret_not_found"],
  handle: deleteSecret,
};

/** Routes for a tenant's secrets for tools. */
export function secretRoutes(app: App): void {
  route(app, SECRETS_PATH, { get: LIST_OPERATION });
  route(app, `${SECRETS_PATH}/{name}`, { put: PUT_OPERATION, delete: DELETE_OPERATION });
}

async function listSecrets(context: Call): Promise<Response> {
  const data = (await context.env.secrets.list(context.var.principal.tenant)).map(toWire);
  const ids = { first_id: data[0]?.name ?? null, last_id: data.at(-1)?.name ?? null };
  return context.json({ object: "list", data, ...ids, has_more: false });
}

async function putSecret(context: Call): Promise<Response> {
  const { tenant } = context.var.principal;
  const name = nameOf(context);
  const { value, bindings } = await readBody(context.req.raw, SecretRequestSchema);
  if (value === name || redactShapes(name) !== name)
    throw invalid(
      "",
      "The name looks like the secret itself. Use another name, and treat the secret as leaked",
    );
  requireReachable(bindings, toolAddressRules(context.env.config));
  const put = await context.env.secrets.put({ tenant, name, value, bindings }, Date.now());
  if (put.ok) return context.json(toWire(put.secret), put.isNew ? 201 : 200);
  if (put.code === "full") {
    const message = `This tenant has ${SECRET_LIMITS.secrets} secrets, the maximum. Delete one first.`;
    throw new ApiError("too_many_secrets", message, { limit: SECRET_LIMITS.secrets });
  }
  const message = `The secret cannot be stored encrypted: ${put.problem}. The operator must set SEALING_KEYS (locally, \`npm run setup\` writes it to .dev.vars; then restart the service).`;
  throw new ApiError("secret_not_kept", message);
}

async function deleteSecret(context: Call): Promise<Response> {
  const name = nameOf(context);
  if (await context.env.secrets.remove(context.var.principal.tenant, name))
    return context.body(null, 204);
  throw new ApiError("secret_not_found", "There is no such secret.");
}

function nameOf(context: Call): string {
  const name = context.req.param("name") ?? "";
  if (isSecretName(name)) return name;
  throw new ApiError(
    "bad_id",
    `The name of a secret must be a letter or an underscore, then letters, digits and underscores: at most ${SECRET_LIMITS.nameChars} characters.`,
  );
}

/** Throws `request_invalid` for a binding to an address that tools may not access. */
function requireReachable(bindings: readonly SecretBinding[], rules: AddressRules): void {
  for (const [nth, binding] of bindings.entries()) {
    const problem = bindingProblem(binding, rules);
    if (problem !== null) throw invalid(`/bindings/${nth}`, problem.replace(/\.$/, ""));
  }
}

const invalid = (pointer: string, detail: string): ApiError =>
  new ApiError(
    "request_invalid",
    `The request is not valid, at \`${pointer || "the name"}\`: ${detail}.`,
    {
      errors: [{ pointer, detail }],
    },
  );

const toWire = ({
  name,
  bindings,
  createdAt,
  updatedAt,
}: Awaited<ReturnType<Call["env"]["secrets"]["list"]>>[number]): Secret => ({
  ...{ name, bindings: [...bindings], created_at: createdAt / 1000, updated_at: updatedAt / 1000 },
});
