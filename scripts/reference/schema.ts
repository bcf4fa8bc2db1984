import * as z from "zod";

/** The fields of a JSON Schema that the reference pages read. */
export const ShapeSchema = z.looseObject({
  $ref: z.string().optional(),
  type: z.union([z.string(), z.array(z.string())]).optional(),
  description: z.string().optional(),
  deprecated: z.boolean().optional(),
  required: z.array(z.string()).optional(),
  const: z.unknown().optional(),
  enum: z.array(z.unknown()).optional(),
  default: z.unknown().optional(),
  minimum: z.number().optional(),
  maximum: z.number().optional(),
  minLength: z.number().optional(),
  maxLength: z.number().optional(),
  get properties() {
    return z.record(z.string(), ShapeSchema).optional();
  },
  get items() {
    return ShapeSchema.optional();
  },
  get additionalProperties() {
    return z.union([z.boolean(), ShapeSchema]).optional();
  },
  get oneOf() {
    return z.array(ShapeSchema).optional();
  },
  get anyOf() {
    return z.array(ShapeSchema).optional();
  },
  get allOf() {
    return z.array(ShapeSchema).optional();
  },
  get $defs() {
    return z.record(z.string(), ShapeSchema).optional();
  },
});
export type Shape = z.infer<typeof ShapeSchema>;

const MediaSchema = z.record(
  z.string(),
  z.object({ schema: ShapeSchema.optional(), example: z.unknown().optional() }),
);
const ParameterSchema = z.object({
  name: z.string(),
  in: z.string(),
  description: z.string().optional(),
  required: z.boolean().optional(),
  schema: ShapeSchema.optional(),
});
const OperationSchema = z.object({
  operationId: z.string(),
  tags: z.array(z.string()),
  summary: z.string(),
  description: z.string().optional(),
  security: z.array(z.record(z.string(), z.unknown())).optional(),
  parameters: z.array(ParameterSchema).optional(),
  requestBody: z.object({ content: MediaSchema }).optional(),
  responses: z.record(
    z.string(),
    z.object({ description: z.string(), content: MediaSchema.optional() }),
  ),
});
export type Operation = z.infer<typeof OperationSchema>;

/** The fields of the OpenAPI document that the page about HTTP reads. */
export const OpenApiSchema = z.object({
  info: z.object({ description: z.string() }),
  paths: z.record(z.string(), z.record(z.string(), OperationSchema)),
  components: z.object({ schemas: z.record(z.string(), ShapeSchema) }),
});
export type OpenApi = z.infer<typeof OpenApiSchema>;
