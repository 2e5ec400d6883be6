/** The parts of an OpenAPI 3.1 document that the page reads. */

export interface Reference {
  readonly $ref: string;
}
export type Referable<Value> = Value | Reference;

export interface Schema {
  readonly type?: string | readonly string[];
  readonly title?: string;
  readonly description?: string;
  readonly format?: string;
  readonly pattern?: string;
  /** The schema of a text that is itself a document, such as NDJSON. */
  readonly contentSchema?: AnySchema;
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly default?: unknown;
  readonly example?: unknown;
  readonly examples?: readonly unknown[];
  readonly minimum?: number;
  readonly maximum?: number;
  readonly exclusiveMinimum?: number;
  readonly exclusiveMaximum?: number;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly minProperties?: number;
  readonly maxProperties?: number;
  readonly uniqueItems?: boolean;
  readonly readOnly?: boolean;
  readonly writeOnly?: boolean;
  readonly deprecated?: boolean;
  readonly required?: readonly string[];
  readonly properties?: Readonly<Record<string, AnySchema>>;
  readonly additionalProperties?: AnySchema;
  readonly patternProperties?: Readonly<Record<string, AnySchema>>;
  readonly propertyNames?: AnySchema;
  readonly items?: AnySchema;
  readonly oneOf?: readonly AnySchema[];
  readonly anyOf?: readonly AnySchema[];
  readonly allOf?: readonly AnySchema[];
}
export type AnySchema = Referable<Schema> | boolean;

export interface Example {
  readonly summary?: string;
  readonly description?: string;
  readonly value?: unknown;
}

export interface MediaType {
  readonly schema?: AnySchema;
  readonly example?: unknown;
  readonly examples?: Readonly<Record<string, Referable<Example>>>;
}
export type Content = Readonly<Record<string, MediaType>>;

export interface Parameter {
  readonly name: string;
  readonly in: 'path' | 'query' | 'header' | 'cookie';
  readonly description?: string;
  readonly required?: boolean;
  readonly deprecated?: boolean;
  readonly style?: string;
  readonly explode?: boolean;
  readonly schema?: AnySchema;
  /** The schemas of the values behind operators that follow a member of an object. */
  readonly 'x-operators'?: Readonly<Record<string, AnySchema>>;
  readonly example?: unknown;
  readonly examples?: Readonly<Record<string, Referable<Example>>>;
}
export type Header = Omit<Parameter, 'name' | 'in'>;

export interface RequestBody {
  readonly description?: string;
  readonly required?: boolean;
  readonly content: Content;
}

export interface Response {
  readonly description?: string;
  readonly headers?: Readonly<Record<string, Referable<Header>>>;
  readonly content?: Content;
}

/** The required scopes of each scheme. */
export type SecurityRequirement = Readonly<Record<string, readonly string[]>>;

export interface OperationObject {
  readonly operationId?: string;
  readonly summary?: string;
  readonly description?: string;
  readonly tags?: readonly string[];
  readonly deprecated?: boolean;
  readonly parameters?: readonly Referable<Parameter>[];
  readonly requestBody?: Referable<RequestBody>;
  readonly responses?: Readonly<Record<string, Referable<Response>>>;
  readonly security?: readonly SecurityRequirement[];
  readonly 'x-error-codes'?: readonly string[];
}

export const METHODS = ['get', 'post', 'put', 'patch', 'delete', 'head', 'options', 'trace'] as const;
export type Method = (typeof METHODS)[number];

export interface PathItem extends Readonly<Partial<Record<Method, OperationObject>>> {
  readonly parameters?: readonly Referable<Parameter>[];
}

export interface SecurityScheme {
  readonly type: string;
  readonly scheme?: string;
  readonly description?: string;
}

export interface OpenApi {
  readonly openapi: string;
  readonly info: { readonly title: string; readonly version: string; readonly description?: string };
  readonly tags?: readonly { readonly name: string; readonly description?: string }[];
  readonly security?: readonly SecurityRequirement[];
  /** The codes of errors that every operation can have. */
  readonly 'x-error-codes'?: readonly string[];
  readonly paths?: Readonly<Record<string, Referable<PathItem>>>;
  readonly components?: {
    readonly schemas?: Readonly<Record<string, AnySchema>>;
    readonly securitySchemes?: Readonly<Record<string, Referable<SecurityScheme>>>;
  };
}
