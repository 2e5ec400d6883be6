import type { JSX } from 'preact';
import { Breadcrumb } from '../components/breadcrumb.js';
import { useConsole } from '../context.js';
import { RecordEditor } from '../edit/record-editor.js';
import type { ResourcePageProps } from '../types.js';

export function NewRecordPage({ resource }: ResourcePageProps): JSX.Element {
  const { texts, navigate, notify } = useConsole();
  return (
    <>
      <Breadcrumb resource={resource} />
      <h1>{texts.form.newTitle(resource.singular)}</h1>
      <RecordEditor
        resource={resource}
        onSaved={({ id }) => {
          notify({ kind: 'success', text: texts.form.created(resource.singular, id) });
          // Going back must not show an empty form again.
          navigate({ page: 'record', resource: resource.name, id }, 'replace');
        }}
      />
    </>
  );
}
