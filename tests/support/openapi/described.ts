import { compose } from '#src/composition/container.js';
import { describedService } from '#src/composition/openapi.js';
import { loadSettings } from '#src/config/settings.js';
import { DocumentedAnswers } from './documented-answers.js';

const known = new Map<string, DocumentedAnswers>();

/** The document of a service with these settings. */
export function documentOf(environment: Record<string, string>): object {
  return describedService(compose(loadSettings({ ...environment, LOG_LEVEL: 'silent' })));
}

/** What the answers of a service with these settings are held to. */
export function documentedAnswers(environment: Record<string, string>): DocumentedAnswers {
  // The address of the service, and what it stores where, are in none of its answers' descriptions.
  const settings = { ...environment, PUBLIC_URL: 'https://catalogue.test', STORE: 'memory', WORKERS: '1' };
  const document = documentOf(settings);
  const text = JSON.stringify(document);
  const made = known.get(text) ?? new DocumentedAnswers(document);
  known.set(text, made);
  return made;
}
