import type { ErrorCode } from '../../../../domain/errors.js';
import type { Endpoint, Method, Operation } from '../endpoint.js';
import type { Components } from './components.js';
import { describedErrors } from './described-errors.js';
import { DescribedHeaders } from './described-headers.js';
import type { AnswerDescription, AnsweredHeader, OperationDescription } from './description.js';
import { OAUTH_ERROR_SCHEMAS } from './error-schemas.js';
import type { RequestHeader } from './headers.js';
import { ID } from './resource-schemas.js';

/** What goes for all endpoints that are mounted alike. */
export interface Mounting {
  readonly headers: readonly AnsweredHeader[];
  readonly errors: readonly ErrorCode[];
  /** Whether a bearer's credential is looked at. */
  readonly isGuarded: boolean;
}

/** What goes for every request. */
export interface Surroundings {
  readonly requestHeaders: readonly RequestHeader[];
  /** Of OPTIONS beside those. */
  readonly preflightHeaders: readonly RequestHeader[];
  readonly preflightAnswers: readonly AnsweredHeader[];
}

const ID_PARAMETER = {
  name: 'id',
  in: 'path',
  required: true,
  description: 'The number of the record. Any other text is an address that does not exist.',
  schema: ID,
};

/** Writes endpoints down as OpenAPI has them. */
export class DescribedOperations {
  private readonly headers: DescribedHeaders;

  constructor(
    private readonly components: Components,
    private readonly surroundings: Surroundings,
  ) {
    this.headers = new DescribedHeaders(components);
  }

  pathItem(endpoint: Endpoint, mounting: Mounting): object {
    const all = Object.entries(endpoint.operations) as [Method, Operation][];
    const described = all.flatMap(([method, operation]) => [
      [method.toLowerCase(), this.operation(operation, mounting)],
      ...(method === 'GET' ? [['head', this.head(operation, mounting)]] : []),
    ]);
    const hasId = endpoint.route.includes('{id}');
    return {
      ...(hasId && { parameters: [this.components.share('parameters', 'Id', ID_PARAMETER)] }),
      ...Object.fromEntries(described),
      options: this.options(endpoint, hasId ? [...mounting.errors, 'not_found'] : mounting.errors, mounting),
    };
  }

  private operation(operation: Operation, mounting: Mounting): object {
    const { id, tag, summary, text, bodies, schemas = {} } = operation.description;
    this.components.schemas(schemas);
    return {
      operationId: id,
      tags: [tag],
      summary,
      ...(text && { description: text }),
      ...this.asked(operation, mounting),
      ...(bodies && { requestBody: { required: true, content: bodies } }),
      responses: this.responses(operation, mounting, true),
    };
  }

  private head(operation: Operation, mounting: Mounting): object {
    const { id, tag, summary } = operation.description;
    return {
      operationId: renamed(id, 'head'),
      tags: [tag],
      summary: `${summary}: the headers alone`,
      ...this.asked(operation, mounting),
      responses: this.responses(operation, mounting, false),
    };
  }

  /** @param codes of its errors: a number that no record can have is no address */
  private options(
    { operations, acceptPatch }: Endpoint,
    codes: readonly ErrorCode[],
    mounting: Mounting,
  ): object {
    const [{ id, tag }] = Object.values(operations).map(({ description }) => description) as [
      OperationDescription,
    ];
    const { preflightHeaders, preflightAnswers } = this.surroundings;
    const answered = [...mounting.headers, 'Allow' as const, ...preflightAnswers];
    return {
      operationId: renamed(id, 'options'),
      tags: [tag],
      summary: `What can be done at this address`,
      security: [],
      parameters: this.headers.requested(['RequestId', ...preflightHeaders]),
      responses: {
        204: {
          description: 'The methods are in `Allow`.',
          headers: this.headers.answered(acceptPatch ? [...answered, 'Accept-Patch'] : answered),
        },
        ...describedErrors(
          { verb: 'options', codes, headers: mounting.headers, hasBody: true },
          this.components,
          this.headers,
        ),
      },
    };
  }

  private asked(operation: Operation, mounting: Mounting): object {
    const { query = [], headers = [], requiredHeaders = [], security } = operation.description;
    return {
      security: security ?? securityOf(operation, mounting),
      parameters: [
        ...query.map((parameter) => ({ ...parameter, in: 'query' })),
        ...this.headers.required(requiredHeaders),
        ...this.headers.requested([...headers, ...this.surroundings.requestHeaders]),
      ],
    };
  }

  private responses(operation: Operation, mounting: Mounting, hasBody: boolean): object {
    const { id, answers, errors = [], errorHeaders = [], errorShape: shape } = operation.description;
    const verb = hasBody ? verbOf(id) : 'head';
    if (shape) this.components.schemas(OAUTH_ERROR_SCHEMAS);
    const codes = [...errors, ...errorsOf(operation, mounting), ...mounting.errors];
    const headers = [...mounting.headers, ...errorHeaders];
    return {
      ...Object.fromEntries(answers.map((answer) => [answer.status, this.answer(answer, mounting, hasBody)])),
      ...describedErrors({ verb, codes, headers, shape, hasBody }, this.components, this.headers),
    };
  }

  private answer(answer: AnswerDescription, mounting: Mounting, hasBody: boolean): object {
    const { description, headers = [], content, links } = answer;
    return {
      description,
      headers: this.headers.answered([...mounting.headers, ...headers]),
      ...(content && hasBody && { content }),
      ...(links && hasBody && { links }),
    };
  }
}

/** What can be seen from the operation itself. */
function errorsOf({ body, subject, scope }: Operation, { isGuarded }: Mounting): ErrorCode[] {
  const errors: ErrorCode[] = [];
  if (body) errors.push('payload_too_large', 'unsupported_media_type');
  if (subject) errors.push('not_found');
  if (isGuarded) errors.push('invalid_token', 'token_expired');
  if (scope) errors.push('unauthenticated', 'insufficient_scope');
  return errors;
}

/** An API key, or an access token of whatever issuer; where neither is needed one that is sent is judged all the same. */
function securityOf({ scope }: Operation, { isGuarded }: Mounting): object[] {
  if (!isGuarded) return [];
  const scopes = scope ? [scope] : [];
  const credentials = [{ bearer: scopes }, { oauth2: scopes }];
  return scope ? credentials : [{}, ...credentials];
}

function verbOf(id: string): string {
  return /^[a-z]+/.exec(id)?.[0] ?? '';
}

/** `listProducts` is `headProducts` by another verb. */
function renamed(id: string, verb: string): string {
  return verb + id.slice(verbOf(id).length);
}
