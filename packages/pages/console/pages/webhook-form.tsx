import type { ComponentChildren, JSX } from 'preact';
import { useMemo, useRef } from 'preact/hooks';
import { Field } from '../components/field.js';
import { useConsole } from '../context.js';
import { failedOf, messagesOf, ProblemSummary } from '../edit/problems.js';
import { useSaveKey } from '../edit/unsaved.js';
import { wordsOf } from '../field-words.js';
import { TEXTS } from '../texts.js';
import type { Resource } from '../types.js';

const { webhooks: texts } = TEXTS;

/** What a person decides about a webhook. */
export interface WebhookInput {
  readonly name: string;
  readonly url: string;
  readonly resources: readonly string[];
}

interface WebhookFormProps {
  readonly resource: Resource;
  readonly value: WebhookInput;
  readonly urlHint: string;
  readonly resourcesHint: string;
  /** Why the service refused it. */
  readonly problem: unknown;
  onChange(changed: Partial<WebhookInput>): void;
  onSubmit(): void;
  /** The buttons. */
  readonly children: ComponentChildren;
}

export function WebhookForm(props: WebhookFormProps): JSX.Element {
  const { resource, value, urlHint, resourcesHint, problem, onChange, onSubmit, children } = props;
  const { references } = useConsole();
  const failed = useMemo(
    () => (problem === undefined ? undefined : failedOf(problem, resource, references)),
    [problem],
  );
  const messages = messagesOf(failed?.problems ?? []);
  const form = useRef<HTMLFormElement>(null);
  useSaveKey(form);
  const submit = (event: Event) => {
    event.preventDefault();
    onSubmit();
  };
  return (
    <form class="narrow form-section" ref={form} noValidate onSubmit={submit}>
      {failed && <ProblemSummary failed={failed} />}
      <Field label={texts.name} hint={wordsOf('name', resource.name)?.help} error={messages.get('/name')} isRequired>
        {(control) => (
          <input
            {...control}
            data-pointer="/name"
            value={value.name}
            onInput={({ currentTarget }) => onChange({ name: currentTarget.value })}
          />
        )}
      </Field>
      <Field label={texts.url} hint={urlHint} error={messages.get('/url')} isRequired>
        {(control) => (
          <input
            {...control}
            data-pointer="/url"
            type="url"
            placeholder="https://"
            value={value.url}
            onInput={({ currentTarget }) => onChange({ url: currentTarget.value.trim() })}
          />
        )}
      </Field>
      <Choices
        {...{ resource, hint: resourcesHint, error: messages.get('/resources') }}
        chosen={value.resources}
        onChoose={(resources) => onChange({ resources })}
      />
      <p class="actions">{children}</p>
    </form>
  );
}

interface ChoicesProps {
  readonly resource: Resource;
  readonly chosen: readonly string[];
  readonly hint: string;
  readonly error: string | undefined;
  onChoose(names: readonly string[]): void;
}

/** The resources that the person may read, and those that somebody else chose. */
function Choices({ resource, chosen, hint, error, onChoose }: ChoicesProps): JSX.Element {
  const { api, references, resources } = useConsole();
  const { items } = references.schema(resource.input?.properties?.['resources']);
  const names = (references.schema(items).enum ?? []).map(String);
  const shown = names.filter((name) => api.permissions.mayRead.has(name) || chosen.includes(name));
  return (
    <fieldset class="checks" data-pointer="/resources" tabIndex={-1} aria-describedby="resources-note">
      <legend>{texts.resources} *</legend>
      {shown.map((name) => (
        <label key={name}>
          <input
            type="checkbox"
            checked={chosen.includes(name)}
            onChange={({ currentTarget: { checked } }) =>
              onChoose(names.filter((one) => (one === name ? checked : chosen.includes(one))))
            }
          />{' '}
          {resources.find((one) => one.name === name)?.title ?? name}
        </label>
      ))}
      <p id="resources-note" class={error ? 'field-error' : 'hint'}>
        {error ?? hint}
      </p>
    </fieldset>
  );
}
