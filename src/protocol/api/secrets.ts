import { z } from "zod";

/** A tenant's secrets for tools and tool servers, as the API speaks of them. */

export const SECRETS_PATH = "/api/secrets";

/** What the service may hold for one tenant. */
export const SECRET_LIMITS = {
  secrets: 100,
  bindings: 16,
  paths: 16,
  pathChars: 1_024,
  valueChars: 4_096,
  nameChars: 100,
} as const;

/** Shorter values could not be hidden in texts without tearing holes into ordinary words. */
export const SHORTEST_VALUE = 6;

const NAME = /^[A-Za-z_]\w*$/;
/** As configs write it in `${NAME}`. */
export const isSecretName = (text: string): boolean =>
  NAME.test(text) && text.length <= SECRET_LIMITS.nameChars;

export const SECRET_METHODS = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"] as const;

export const SecretBindingSchema = z
  .strictObject({
    origin: z
      .string()
      .min(1)
      .max(500)
      .describe("Scheme and host, such as `https://api.example.com`"),
    paths: z
      .array(z.string().startsWith("/", "A path begins with a slash").max(SECRET_LIMITS.pathChars))
      .min(1)
      .max(SECRET_LIMITS.paths)
      .optional()
      .describe(
        "Paths that the secret is sent to, each with all that lies below it. Absent: every path",
      ),
    methods: z
      .array(z.enum(SECRET_METHODS))
      .min(1)
      .max(SECRET_METHODS.length)
      .optional()
      .describe("Absent: every method"),
  })
  .meta({ id: "SecretBinding" });
/** Where a secret may be sent: to one origin, there to these paths and by these methods only, where it names any. */
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
      .describe("The secret; no answer repeats it"),
    bindings: z.array(SecretBindingSchema).min(1).max(SECRET_LIMITS.bindings),
  })
  .meta({ id: "SecretRequest" });

const seconds = z.number().describe("Unix time in seconds");

export const SecretSchema = z
  .object({
    name: z.string(),
    bindings: z.array(SecretBindingSchema),
    created_at: seconds,
    /** When the value or the bindings were last set. */
    updated_at: seconds,
  })
  .meta({ id: "Secret" });
export type Secret = z.infer<typeof SecretSchema>;

export const SecretListSchema = z
  .object({
    object: z.literal("list"),
    data: z.array(SecretSchema),
    first_id: z.string().nullable(),
    last_id: z.string().nullable(),
    has_more: z.boolean(),
  })
  .meta({ id: "SecretList" });

/** The address of one secret. */
export const secretPath = (name: string): string => `${SECRETS_PATH}/${encodeURIComponent(name)}`;
