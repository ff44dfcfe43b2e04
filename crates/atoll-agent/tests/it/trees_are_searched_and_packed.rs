//! Searching, names by pattern, edits, patches and archives, over HTTP.

use atoll_client::{PackFiles, PatchFiles, ReadFile, UnpackFiles, WriteFile};
use atoll_protocol::{
    ArchiveFormat, EditRequest, EditText, ErrorCode, ExecRequest, GlobRequest, PatchOutcome, SearchDetail, SearchLine,
    SearchRequest, SearchTruncated,
};

use crate::harness::{Fixture, run, soon};
use crate::raw::{ask, post};

async fn shell(f: &Fixture, text: &str) -> String {
    let done = soon(f.client.exec(&ExecRequest::shell(text))).await.unwrap();
    assert_eq!(done.end.code, Some(0), "{text}: {done:?}");
    done.stdout.data
}

async fn make_tree(f: &Fixture) {
    let make = "mkdir -p src/deep .git .hid; printf 'one\\nneedle here\\nthree\\n' > src/a.rs; \
        echo 'a Needle' > src/deep/b.txt; echo needle > ignored.log; echo '*.log' > .gitignore; \
        echo needle > .hid/x; printf 'needle\\0\\n' > bin; printf 'caf\\xe9 needle\\n' > latin";
    shell(f, make).await;
}

#[test]
fn searches_tell_lines_files_and_counts() {
    run(async |f| {
        make_tree(f).await;
        let request = SearchRequest { pattern: "needle".to_owned(), sorted: true, ..SearchRequest::default() };
        let answer = soon(f.client.search_files(&request)).await.unwrap();
        let lines: Vec<_> = answer.matches.iter().map(|hit| (hit.path.as_str(), hit.line)).collect();
        assert_eq!(lines, [("latin", 1), ("src/a.rs", 2)], "{answer:?}");
        assert_eq!((answer.matches[0].text_base64.is_some(), answer.matches[1].spans[0].start), (true, 0));
        let all = SearchRequest {
            case: atoll_protocol::SearchCase::Insensitive,
            hidden: true,
            ignored: true,
            detail: SearchDetail::Files,
            ..request.clone()
        };
        let mut files: Vec<_> =
            soon(f.client.search_files(&all)).await.unwrap().files.into_iter().map(|file| file.path).collect();
        files.sort();
        assert_eq!(files, [".hid/x", "ignored.log", "latin", "src/a.rs", "src/deep/b.txt"]);
        let few = SearchRequest { max_matches: Some(1), ..request.clone() };
        let few = soon(f.client.search_files(&few)).await.unwrap();
        assert_eq!((few.matches.len(), few.summary.truncated), (1, Some(SearchTruncated::Matches)));
        let context = SearchRequest { before: 1, after: 1, include: vec!["*.rs".to_owned()], ..request.clone() };
        let mut stream = soon(f.client.stream_search(&context)).await.unwrap();
        let mut told = Vec::new();
        while let Some(line) = soon(stream.next()).await.unwrap() {
            match line {
                SearchLine::Match(hit) => told.push(hit.text),
                SearchLine::End(summary) => assert_eq!(summary.matches, 1),
                other @ (SearchLine::File(_) | SearchLine::Binary(_) | SearchLine::Error(_)) => panic!("{other:?}"),
            }
        }
        assert_eq!(told, ["one\n", "needle here\n", "three\n"]);
        let bad = SearchRequest { pattern: "(".to_owned(), ..SearchRequest::default() };
        assert_eq!(soon(f.client.search_files(&bad)).await.unwrap_err().code(), Some(ErrorCode::ValidationFailed));
        let missing = SearchRequest { path: Some("nowhere".to_owned()), ..request };
        assert_eq!(soon(f.client.search_files(&missing)).await.unwrap_err().code(), Some(ErrorCode::FileNotFound));
    });
}

#[test]
fn names_are_found_by_pattern() {
    run(async |f| {
        make_tree(f).await;
        let request = GlobRequest { patterns: vec!["**/*.{rs,txt,log}".to_owned()], ..GlobRequest::default() };
        let answer = soon(f.client.glob_files(&request)).await.unwrap();
        let names: Vec<_> = answer.entries.iter().map(|entry| entry.path.as_str()).collect();
        assert_eq!(names, ["src/a.rs", "src/deep/b.txt"]);
        let all = GlobRequest { ignored: true, max_matches: Some(1), ..request };
        let answer = soon(f.client.glob_files(&all)).await.unwrap();
        assert_eq!((answer.entries.len(), answer.truncated), (1, Some(SearchTruncated::Matches)));
    });
}

#[test]
fn edits_fit_or_change_nothing() {
    run(async |f| {
        soon(f.client.write_file("f", "one two one\n", &WriteFile::default())).await.unwrap();
        let edit =
            |old: &str, new: &str, count| EditText { old: old.to_owned(), new: new.to_owned(), count, all: false };
        let request = |edits| EditRequest { path: Some("f".to_owned()), edits, ..EditRequest::default() };
        let both = request(vec![edit("two", "2", None), edit("one", "1", Some(2))]);
        assert_eq!(soon(f.client.edit_file(&both)).await.unwrap().lines, [vec![1], vec![1, 1]]);
        assert_eq!(shell(f, "cat f").await, "1 2 1\n");
        let half = request(vec![edit("2", "x", None), edit("gone", "x", None)]);
        assert_eq!(soon(f.client.edit_file(&half)).await.unwrap_err().code(), Some(ErrorCode::ContentMismatch));
        assert_eq!(shell(f, "cat f").await, "1 2 1\n");
        let stale = EditRequest { if_match: Some("other".to_owned()), ..request(vec![edit("2", "x", None)]) };
        assert_eq!(soon(f.client.edit_file(&stale)).await.unwrap_err().code(), Some(ErrorCode::PreconditionFailed));
    });
}

#[test]
fn patches_fit_or_change_nothing() {
    run(async |f| {
        shell(f, "mkdir p; printf 'a\\nb\\nc\\n' > p/one").await;
        let good = "--- a/one\n+++ b/one\n@@ -1,3 +1,3 @@\n a\n-b\n+B\n c\n--- /dev/null\n+++ b/new/two\n@@ -0,0 +1 @@\n+two\n";
        let dry = PatchFiles { dry_run: true, ..PatchFiles::default() };
        assert!(soon(f.client.patch_files("p", good, &dry)).await.unwrap().dry_run);
        assert_eq!(shell(f, "cat p/one").await, "a\nb\nc\n");
        let done = soon(f.client.patch_files("p", good, &PatchFiles::default())).await.unwrap();
        let outcomes: Vec<_> = done.files.iter().map(|file| (file.path.as_str(), file.outcome)).collect();
        assert_eq!(outcomes, [("one", PatchOutcome::Changed), ("new/two", PatchOutcome::Created)]);
        assert_eq!(shell(f, "cat p/one p/new/two").await, "a\nB\nc\ntwo\n");
        let again = soon(f.client.patch_files("p", good, &PatchFiles::default())).await.unwrap_err();
        assert!(matches!(again.code(), Some(ErrorCode::ContentMismatch | ErrorCode::FileExists)), "{again:?}");
        let envelope = "*** Begin Patch\n*** Update File: one\n@@\n-B\n+b\n*** Delete File: new/two\n*** End Patch\n";
        soon(f.client.patch_files("p", envelope, &PatchFiles::default())).await.unwrap();
        assert_eq!(shell(f, "cat p/one; ls p/new").await, "a\nb\nc\n");
        let out = "--- /dev/null\n+++ b/../out\n@@ -0,0 +1 @@\n+x\n";
        assert!(soon(f.client.patch_files("p", out, &PatchFiles::default())).await.is_err());
        assert_eq!(shell(f, "ls").await, "p\n");
    });
}

#[test]
fn trees_travel_as_archives() {
    run(async |f| {
        shell(
            f,
            "mkdir -p t/d; echo x > t/d/x; chmod 750 t/d/x; ln -s d/x t/link; ln t/d/x t/hard; touch -d 2001-02-03 t/d/x; \
             head -c 3000000 /dev/urandom > t/big; truncate -s 1G t/sparse; touch \"t/$(printf 'odd\\n\\377')\"",
        )
        .await;
        let seen = |dir: &str| {
            format!("cd {dir}; find . -mindepth 1 -printf '%P %y %m %s %T@ %n %l\\n' | sort; sha256sum big d/x")
        };
        for format in [ArchiveFormat::Tar, ArchiveFormat::TarZst, ArchiveFormat::TarGz] {
            let what = PackFiles { format, ..PackFiles::default() };
            let archive = soon(soon(f.client.pack_files("t", &what)).await.unwrap().collect()).await.unwrap();
            let pieces: Vec<_> = archive.chunks(70_000).map(|piece| Ok(bytes::Bytes::copy_from_slice(piece))).collect();
            let to = format!("u-{}", archive.len());
            let receipt =
                soon(f.client.unpack_files(&to, futures_util::stream::iter(pieces), &UnpackFiles::default())).await;
            assert_eq!(receipt.unwrap().format, format);
            assert_eq!(shell(f, &seen(&to)).await, shell(f, &seen("t")).await, "{format:?}");
        }
        let what = PackFiles { format: ArchiveFormat::Zip, exclude: vec!["sparse".to_owned()], ..PackFiles::default() };
        let archive = soon(soon(f.client.pack_files("t/d", &what)).await.unwrap().collect()).await.unwrap();
        let zip = futures_util::stream::iter([Ok(archive)]);
        assert_eq!(soon(f.client.unpack_files("z", zip, &UnpackFiles::default())).await.unwrap().files, 1);
        assert_eq!(shell(f, "cat z/x").await, "x\n");
        let missing = soon(f.client.pack_files("none", &PackFiles::default())).await.unwrap_err();
        assert_eq!(missing.code(), Some(ErrorCode::FileNotFound));
        // The archiver of every system, against ours; and a name that leads out.
        shell(f, "tar -cf evil.tar --transform 's,^,../,' -P t/link").await;
        let evil = soon(f.client.read_file("evil.tar", &ReadFile::default())).await.unwrap().collect().await.unwrap();
        let evil = futures_util::stream::iter([Ok(evil)]);
        let refused = soon(f.client.unpack_files("e", evil, &UnpackFiles::default())).await.unwrap_err();
        assert_eq!(refused.code(), Some(ErrorCode::PathEscapes), "{refused:?}");
        let wrong = ask(&f.socket(), post("/v1/files/patch?path=.&fuzz=x"), "").await.refusal();
        assert_eq!(wrong.1, "VALIDATION_FAILED");
    });
}
