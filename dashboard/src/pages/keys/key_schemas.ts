// What the forms of keys ask for, as schemas. Pure.

/** The caller hands out only the scopes that their own key has, and only an operator makes keys for operators. */
export function newKey(scopes: readonly string[], operator: boolean) {
  return {
    type: "object",
    required: ["name", "scopes"],
    additionalProperties: false,
    properties: {
      name: {
        type: "string",
        minLength: 1,
        maxLength: 100,
        description: "What it is for",
        examples: ["nightly imports"],
      },
      env: { type: "string", pattern: "^[a-z0-9]{1,16}$", default: "live", description: "To tell keys apart by sight" },
      scopes: {
        type: "array",
        minItems: 1,
        uniqueItems: true,
        items: { enum: scopes },
        description:
          "submit jobs, read everything, operate (retry, cancel …), work as a worker, admin keys and settings",
      },
      expires_at: {
        anyOf: [{ type: "string", format: "date-time" }, { type: "null" }],
        default: null,
        description: "null: never",
      },
      ...(operator
        ? {
            operator: {
              type: "boolean",
              default: false,
              description: "For operators of the service: sees tenants, sets limits",
            },
          }
        : {}),
    },
  };
}

export const rotation = {
  type: "object",
  additionalProperties: false,
  properties: {
    overlap_s: {
      type: "integer",
      minimum: 0,
      maximum: 2_592_000,
      default: 3600,
      description: "Seconds for which both are valid",
    },
    expires_at: {
      anyOf: [{ type: "string", format: "date-time" }, { type: "null" }],
      default: null,
      description: "When the new one ends; null: as long as the old one was given",
    },
  },
};
