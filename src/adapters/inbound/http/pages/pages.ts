import { STATUS_CODES } from 'node:http';
import { ERRORS, type ResponseErrorCode } from '../core/error-codes.js';
import { ISSUES } from '../core/issue-codes.js';
import type { Route } from '../core/route.js';
import { OAUTH_ERRORS } from '../oauth/oauth-errors.js';
import { ERROR_EXAMPLES } from '../response/error-examples.js';
import { pageRoutes } from './page-routes.js';

/** The interactive reference: a page that reads the OpenAPI document. */
export function docsRoutes(): Route[] {
  return pageRoutes({
    name: 'docs',
    styles: ['base.css', 'docs.css'],
    data: { 'errors.json': errorCodes() },
  });
}

/** The console: a page for people, which uses the public API through the TypeScript client. */
export function consoleRoutes(): Route[] {
  return pageRoutes({ name: 'console', styles: ['console.css'], hasPictures: true });
}

/** The error codes with their explanations, from the tables that the service itself uses. */
function errorCodes() {
  const responses = Object.entries(ERRORS).map(([code, { status, cause, remedy }]) => ({
    code,
    status,
    reason: STATUS_CODES[status],
    cause,
    remedy,
    example: { code, ...ERROR_EXAMPLES[code as ResponseErrorCode] },
  }));
  const details = Object.entries(ISSUES).map(([code, { cause, remedy }]) => ({ code, cause, remedy }));
  const oauth = Object.entries(OAUTH_ERRORS).map(([code, { cause, remedy }]) => ({ code, cause, remedy }));
  return { responses, details, oauth };
}
