import Joi from 'joi';

/**
 * Whether a URL of a server has a fragment, or an `@` behind the first `/` or `?` of what follows `//` (RFC 3986 section
 * 3.2). Its password probably has a character that had to be percent-encoded, so parsers take the rest of it for a host,
 * a database or a parameter.
 */
export function isAmbiguousUrl(url: string): boolean {
  return /^[^/]*\/\/(?:[^#]*#|[^/?]*[/?].*@)/s.test(url);
}

/** The schema of a setting that is the URL of a server. Nothing of a refused one is printed. */
export function serverUrl(): Joi.StringSchema {
  return Joi.string()
    .meta({ secrecy: 'url' })
    .custom((text: string, { error }: Joi.CustomHelpers) =>
      isAmbiguousUrl(text) ? error('url.ambiguous') : text,
    )
    .messages({
      'url.ambiguous':
        '{{#label}} has a #, or an @ behind a / or ?; percent-encode such characters in its credentials: ' +
        '# as %23, / as %2F, ? as %3F, @ as %40',
    });
}
