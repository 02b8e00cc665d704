package account

import (
	"net/http"

	"feedmesh/agent/web/locale"
)

// languagePath is the path of the form below each page that chooses the language.
const languagePath = "/language"

// chooseLanguage keeps the language that a client chose for a year and leads back to its page.
func chooseLanguage(w http.ResponseWriter, r *http.Request) {
	r.Body = http.MaxBytesReader(w, r.Body, maxForm)
	if l := locale.Of(r.PostFormValue("language")); l != nil {
		http.SetCookie(w, &http.Cookie{
			Name: locale.Cookie, Value: l.Code, Path: "/", MaxAge: 365 * 24 * 60 * 60, HttpOnly: true, SameSite: http.SameSiteLaxMode,
		})
	}
	http.Redirect(w, r, localPath(r.PostFormValue("back")), http.StatusSeeOther)
}
