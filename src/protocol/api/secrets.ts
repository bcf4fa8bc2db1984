import * as z from "zod";
import { listOf } from "./listing";
import { seconds } from "./time";

/** A tenant's secrets for tools and tool servers in requests and responses. */

export const SECRETS_PATH = "/api/secrets";

/** Limits of secrets. */
export const SECRET_LIMITS = {
  /** Number of secrets of a tenant. */
  secrets: 100,
  /** Number of bindings of a secret. */
  bindings: 16,
  /** Number of paths of a binding. */
  paths: 16,
  /** Length of a path. */
  pathChars: 1_024,
  /** Length of a secret's value. */
  valueChars: 4_096,
  /** Length of a secret's name. */
  nameChars: 100,
} as const;

/**
 * Minimum length of a value in characters. Values are redacted in the texts that agents read; to
 * redact a shorter value would also remove parts of ordinary words.
 */
export const SHORTEST_VALUE = 6;

const NAME = /^[A-Za-z_]\w*$/;
/** Whether a config can refer to a secret of this name as `${NAME}`. */
export const isSecretName = (text: string): boolean =>
  NAME.test(text) && text.length <= SECRET_LIMITS.nameChars;

export const SECRET_METHODS = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"] as const;

export const SecretBindingSchema = z
  .strictObject({
    origin: z
      .string()
      .min(1)
      .max(500)
      .describe(
        "Origin that may receive the secret: scheme and host, such as `https://api.example.com`",
      ),
    paths: z
      .array(z.string().startsWith("/", "A path begins with a slash").max(SECRET_LIMITS.pathChars))
      .min(1)
      .max(SECRET_LIMITS.paths)
      .optional()
      .describe(
        "Paths that may receive the secret, each with all paths below it. Omitted: every path",
      ),
    methods: z
      .array(z.enum(SECRET_METHODS))
      .min(1)
      .max(SECRET_METHODS.length)
      .optional()
      .describe("HTTP methods of requests that may carry the secret. Omitted: every method"),
  })
  .meta({ id: "SecretBinding" });
/** A destination of a secret: one origin, optionally limited to paths and methods. */
export type SecretBinding = z.infer<typeof SecretBindingSchema>;

export const SecretRequestSchema = z
  .strictObject({
    value: z
      .string()
      .min(
        SHORTEST_VALUE,
        `A value has at least ${SHORTEST_VALUE} characters: a shorter one could not be hidden where a server repeats it`,
      )
      .max(SECRET_LIMITS.valueChars)
      .regex(
        /^[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?$/,
        "A value has printable ASCII characters only, without space around them",
      )
      .describe("The secret itself. No response contains it"),
    bindings: z
      .array(SecretBindingSchema)
      .min(1)
      .max(SECRET_LIMITS.bindings)
      .describe("Destinations that may receive the secret"),
  })
  .meta({ id: "SecretRequest" });

export const SecretSchema = z
  .object({
    name: z.string().describe("Name of the secret. Configs refer to it as `${NAME}`"),
    bindings: z.array(SecretBindingSchema).describe("Destinations that may receive the secret"),
    created_at: seconds.describe("Time of creation in Unix seconds"),
    updated_at: seconds.describe(
      "Time at which the value or the bindings were last set, in Unix seconds",
    ),
  })
  .meta({ id: "Secret" });
export type Secret = z.infer<typeof SecretSchema>;

export const SecretListSchema = listOf(SecretSchema, z.string()).meta({ id: "SecretList" });

/** Path of one secret. */
export const secretPath = (name: string): string => `${SECRETS_PATH}/${encodeURIComponent(name)}`;
