import { describeService } from '#src/composition/admin-tasks.js';
import { loadSettings } from '#src/config/settings.js';
import { DocumentedResponses } from './documented-responses.js';

/** By settings; by document, of which many settings have the same. */
const known = new Map<string, DocumentedResponses>();

/** The document of a service with these settings. */
export function documentOf(environment: Record<string, string>): object {
  return describeService(loadSettings({ ...environment, LOG_LEVEL: 'silent' }));
}

/** What the answers of a service with these settings are held to. */
export function documentedResponses(environment: Record<string, string>): DocumentedResponses {
  // The address of the service, and what it stores where, are in none of its answers' descriptions.
  const settings = { ...environment, PUBLIC_URL: 'https://catalogue.test', STORE: 'memory', WORKERS: '1' };
  return remembered(JSON.stringify(settings), () => {
    const document = documentOf(settings);
    return remembered(JSON.stringify(document), () => new DocumentedResponses(document));
  });
}

function remembered(key: string, make: () => DocumentedResponses): DocumentedResponses {
  const made = known.get(key) ?? make();
  known.set(key, made);
  return made;
}
