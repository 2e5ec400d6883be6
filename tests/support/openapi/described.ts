import { describeService } from '#src/composition/admin-tasks.js';
import { loadSettings } from '#src/config/settings.js';
import { DocumentedAnswers } from './documented-answers.js';

/** By settings; by document, of which many settings have the same. */
const known = new Map<string, DocumentedAnswers>();

/** The document of a service with these settings. */
export function documentOf(environment: Record<string, string>): object {
  return describeService(loadSettings({ ...environment, LOG_LEVEL: 'silent' }));
}

/** What the answers of a service with these settings are held to. */
export function documentedAnswers(environment: Record<string, string>): DocumentedAnswers {
  // The address of the service, and what it stores where, are in none of its answers' descriptions.
  const settings = { ...environment, PUBLIC_URL: 'https://catalogue.test', STORE: 'memory', WORKERS: '1' };
  return remembered(JSON.stringify(settings), () => {
    const document = documentOf(settings);
    return remembered(JSON.stringify(document), () => new DocumentedAnswers(document));
  });
}

function remembered(key: string, make: () => DocumentedAnswers): DocumentedAnswers {
  const made = known.get(key) ?? make();
  known.set(key, made);
  return made;
}
