// What the form of a new tenant asks for, as a schema. Pure.
export const new_tenant = {
  type: "object",
  additionalProperties: false,
  required: ["tenant_id"],
  properties: {
    tenant_id: {
      type: "string",
      pattern: "^[a-z0-9][a-z0-9_\\-]*$",
      maxLength: 63,
      description: "Lower-case letters, digits, - and _; it stays",
    },
    name: { type: "string", maxLength: 200, description: "How people call it" },
  },
};
